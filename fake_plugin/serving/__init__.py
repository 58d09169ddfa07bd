"""The side that faces the kubelet: sockets, calls, and to be registered whatever happens.

    registration  keeps a resource registered          attempt      one call of Register
    timing        how long it waits, and for what      listener     one gRPC server on one socket
    backoff       longer each time between attempts    readiness    the gRPC health check
    sockets       their names, and what is left over   watch        changes of the kubelet's folder
    service       the five calls of one resource       streams      the account of ListAndWatch
    interceptor   where calls go wrong by the rules    journal      every call, written down

Which devices there are, and how well, `fake_plugin.resources` knows.
"""

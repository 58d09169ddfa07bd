"""The side that faces the kubelet: sockets, calls, and to be registered whatever happens.

    registration  keeps a resource registered          listener     one gRPC server on one socket
    sockets       their names, and what is left over   watch        changes of the kubelet's folder
    backoff       how long to wait between attempts    readiness    the gRPC health check
    service       the five calls of one resource       streams      the account of ListAndWatch
    interceptor   where calls go wrong by the rules    journal      every call, written down

Which devices there are, and how well, `fake_plugin.resources` knows.
"""

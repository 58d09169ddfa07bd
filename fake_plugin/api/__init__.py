"""Two APIs of the kubelet: our own descriptions of them, and the code generated from those.

`deviceplugin` is the device plugin API, v1beta1; `podresources` the pod-resources API, v1.
"""

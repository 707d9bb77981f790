0
(type.googleapis.com/google.rpc.RetryInfo

// The sockets that both versions of HTTP run over, with TLS or without.
#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/ssl.hpp>

namespace vesta::server {

using PlainStream =
    boost::beast::basic_stream<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
using TlsStream = boost::beast::ssl_stream<PlainStream>;

}  // namespace vesta::server

// Folded stacks for the tests and the pictures of the guide: made here, so that every number is known.

// A web shop's server, as a CPU profile of it would look.
export const shop = `
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::CartHandler::post(shop::Request const&);json::parse(std::string_view);json::Parser::value();json::Parser::object();json::Parser::string();utf8::validate(char const*, unsigned long) 412
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::CartHandler::post(shop::Request const&);json::parse(std::string_view);json::Parser::value();json::Parser::object();json::Parser::value();json::Parser::array();json::Parser::value();json::Parser::number();strtod 233
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::CartHandler::post(shop::Request const&);json::parse(std::string_view);json::Parser::value();json::Parser::object();std::vector<json::Member>::emplace_back;operator new(unsigned long);malloc;_int_malloc 188
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::CartHandler::post(shop::Request const&);shop::PriceEngine::total(shop::Cart const&);shop::PriceEngine::apply_rules(shop::Cart&);std::unordered_map<std::string, shop::Rule>::find;std::_Hash_bytes 341
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::CartHandler::post(shop::Request const&);shop::PriceEngine::total(shop::Cart const&);shop::PriceEngine::apply_rules(shop::Cart&);shop::Rule::matches(shop::Item const&);re2::RE2::Match;re2::DFA::SearchFFT 522
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::CartHandler::post(shop::Request const&);shop::PriceEngine::total(shop::Cart const&);shop::Money::round_[i] 96
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::ProductHandler::get(shop::Request const&);shop::Store::load(shop::ProductId);rocksdb::DB::Get;rocksdb::Version::Get;rocksdb::BlockBasedTable::Get;rocksdb::Block::Seek;memcmp 286
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::ProductHandler::get(shop::Request const&);shop::Store::load(shop::ProductId);rocksdb::DB::Get;rocksdb::Version::Get;rocksdb::BlockBasedTable::Get;rocksdb::UncompressBlock;ZSTD_decompress;ZSTD_decompressSequences 377
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::ProductHandler::get(shop::Request const&);shop::Store::load(shop::ProductId);rocksdb::DB::Get;pread64;entry_SYSCALL_64_[k];do_syscall_64_[k];ksys_pread64_[k];vfs_read_[k];ext4_file_read_iter_[k];filemap_read_[k];copy_page_to_iter_[k] 198
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::ProductHandler::get(shop::Request const&);shop::Template::render(shop::Context const&);shop::Template::block;std::string::append;__memmove_avx_unaligned_erms 231
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::ProductHandler::get(shop::Request const&);shop::Template::render(shop::Context const&);shop::html_escape_[i] 152
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Metrics::observe;std::mutex::lock;pthread_mutex_lock 88
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::reply(shop::Response const&);gzip::compress;deflate;deflate_slow;longest_match 468
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::reply(shop::Response const&);SSL_write;tls13_enc;aesni_gcm_encrypt 173
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::reply(shop::Response const&);SSL_write;send;entry_SYSCALL_64_[k];do_syscall_64_[k];__sys_sendto_[k];tcp_sendmsg_[k];tcp_write_xmit_[k];ip_output_[k];dev_queue_xmit_[k] 204
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();epoll_wait;entry_SYSCALL_64_[k];do_syscall_64_[k];do_epoll_wait_[k];ep_poll_[k];schedule_hrtimeout_range_[k] 61
checkout;std::thread::_State_impl<shop::Janitor>::_M_run();shop::Janitor::sweep();shop::SessionTable::expire();std::map<std::string, shop::Session>::erase;operator delete(void*);free;_int_free 142
checkout;std::thread::_State_impl<shop::Janitor>::_M_run();rocksdb::CompactionJob::Run;rocksdb::MergingIterator::Next;rocksdb::Comparator::Compare;memcmp 167
checkout;std::thread::_State_impl<shop::Janitor>::_M_run();rocksdb::CompactionJob::Run;rocksdb::BlockBasedTableBuilder::Add;ZSTD_compress;ZSTD_compressBlock_fast 219
[lost: ring full] 12
`.trimStart();

// The next release: rules became slower, rendering faster, a cache is new and RE2 is gone.
export const shopNext = shop.split('\n').map((line) => {
  const [, stack, count] = /^(.*) (\d+)$/.exec(line) ?? [];
  if (!stack) return '';
  if (stack.includes('_Hash_bytes')) return `${stack} ${count * 2}`;
  if (stack.includes('re2::')) return '';
  if (stack.includes('Template')) return `${stack} ${Math.round(count * 0.6)}`;
  if (stack.includes('ZSTD_decompress')) return `${stack} ${Math.round(count * 1.18)}`;
  if (stack.includes('longest_match')) return `${stack} ${Math.round(count * 0.93)}`;
  return line;
}).filter(Boolean).join('\n') + `
checkout;std::thread::_State_impl<shop::Worker>::_M_run();shop::Worker::loop();shop::Server::handle(shop::Request const&);shop::Router::dispatch(shop::Request const&);shop::ProductHandler::get(shop::Request const&);shop::PageCache::find(std::string_view);std::_Hash_bytes 128
`;

// 100 in all; `inner` is inside `work` twice over, so that a sum over matches would count it double.
export const small = `
main;work;inner;inner;leaf 30
main;work;inner 20
main;work 10
main;yield 40
`.trimStart();

export const hostileNames = [
  '<script>window.pwned=1</script>', '</script><script>window.pwned=1</script>', '"><img src=x onerror=window.pwned=1>',
  ']]>', '<!--', '{{data}}', "it's & \"quoted\"", '\u202Egnirts\u202C', '\u05D0\u05D1\u05D2', '\u{1F525}', 'x'.repeat(10000),
  'javascript:alert(1)', '\\u003c', '__proto__', 'constructor',
];
export const hostile = hostileNames.map((name) => `main;${name} 10`).join('\n') + '\n';

// Paths of depth 12 to 38 over 3000 long names; about `nodes` different ones, the same on every run.
export function makeLarge(nodes) {
  let seed = 12345;
  const random = () => {
    seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
    return seed / 2 ** 32;
  };
  const names = Array.from({ length: 3000 }, (_, i) =>
    `acme::${['net', 'store', 'query', 'codec', 'sched', 'auth'][i % 6]}::` +
    `Component${i % 97}<acme::traits::Default${i % 13}>::method_${i}(acme::Context const&, unsigned long)`);
  const lines = [];
  let stack = [];
  for (let made = 0; made < nodes;) {
    // Going back a little, then down, gives the bushy trees of real programs.
    stack = stack.slice(0, Math.floor(random() ** 0.35 * stack.length));
    const depth = 12 + Math.floor(random() * 26);
    while (stack.length < depth && made < nodes) {
      stack.push(names[Math.floor(random() ** 2 * names.length)]);
      made++;
    }
    if (stack.length > 0) lines.push(`${stack.join(';')} ${1 + Math.floor(-Math.log(1 - random()) * 50)}`);
  }
  return lines.join('\n') + '\n';
}

import { defineConfig } from 'vite';

// Relative addresses, so that the pages work under any path prefix of a proxy. Assets have their hash in the name and
// are cached for ever.
export default defineConfig({
  base: './',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../build/ui/dist',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // a data: URL would need a hole in the Content-Security-Policy
    modulePreload: { polyfill: false },
  },
  worker: { format: 'es' },
  server: { proxy: { '/api': process.env.VESTA_SERVER ?? 'http://127.0.0.1:4040' } },
});

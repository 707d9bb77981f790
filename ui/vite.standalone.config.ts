import { defineConfig } from 'vite';

// The exported page: one script and one style sheet, which src/formats/flamegraph writes into a file with the profile.
export default defineConfig({
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  publicDir: false,
  build: {
    outDir: '../build/ui/standalone',
    emptyOutDir: true,
    target: 'es2022',
    assetsInlineLimit: 0, // nothing is loaded, and a data: URL would need a hole in the Content-Security-Policy
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: 'src/standalone/main.tsx',
      output: {
        codeSplitting: false,
        entryFileNames: 'page.js',
        assetFileNames: 'page[extname]',
      },
    },
  },
});

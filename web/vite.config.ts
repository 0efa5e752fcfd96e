import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const server = process.env.BELVEDERE_URL ?? 'http://127.0.0.1:8420'

export default defineConfig(({ command }) => ({
  // Built files are requested relative to <base href>, which the server sets; in development it is
  // /ui/.
  base: command === 'build' ? './' : '/ui/',
  plugins: [react()],
  build: {
    target: 'es2022',
    assetsInlineLimit: 0,
    manifest: true,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      // What every page needs is one file, not seventy: it is smaller and comes at once.
      output: { codeSplitting: { groups: [{ name: 'frame', tags: ['$initial'] }] } },
    },
  },
  server: {
    port: 5173,
    // Everything but the console's own files is the server's.
    // The Host header stays: the server takes changes only from its own address.
    proxy: { '^/(?!ui/).*': { target: server } },
  },
}))

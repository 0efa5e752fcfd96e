import { defineConfig } from 'vitest/config'

/** What the console costs with much on the screen: `make prove`. Nothing else may run beside it. */
export default defineConfig({
  root: new URL('.', import.meta.url).pathname,
  test: {
    include: ['*.test.ts'],
    environment: 'node',
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 300_000,
  },
})

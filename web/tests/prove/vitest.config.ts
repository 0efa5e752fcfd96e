import { defineConfig } from 'vitest/config'

/** The cost of the console with much data: `make prove`. Nothing else may run at the same time. */
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

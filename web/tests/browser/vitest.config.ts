import { defineConfig } from 'vitest/config'

/** Real browser, real server, real agent: `make browser`. */
export default defineConfig({
  root: new URL('.', import.meta.url).pathname,
  test: {
    include: ['*.test.ts'],
    environment: 'node',
    // Two cores: two files at a time, each with a server and a browser of its own.
    maxWorkers: 2,
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 45_000 } },
    // A complete submission depends on each test in CI; retried tests are named at the end.
    retry: process.env.CI ? 1 : 0,
    reporters: ['default', './failureReporter.ts'],
  },
})

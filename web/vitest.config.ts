import react from '@vitejs/plugin-react'
import { defineConfig } from 'vitest/config'

/** Component and architecture tests: `npm test`. The tests in a browser have a configuration of their own. */
export default defineConfig({
  plugins: [react()],
  test: {
    include: [
      'src/**/*.test.{ts,tsx}',
      'tests/architecture/*.test.ts',
      'tests/unit/*.test.{ts,tsx}',
    ],
    setupFiles: ['tests/unit/setup.ts'],
    // Files share the modules that they import: React and Mantine are loaded once per worker.
    isolate: false,
    testTimeout: 30_000,
  },
})

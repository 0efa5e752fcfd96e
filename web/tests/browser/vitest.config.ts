import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** The files that take longest. One that starts last would run while the other worker has nothing to do. */
const LONGEST = ['everyPage', 'log', 'levels', 'monitoring', 'completeLists', 'task', 'workflows']

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = (file: TestSpecification) => {
      const place = LONGEST.findIndex((name) => file.moduleId.endsWith(`/${name}.test.ts`))
      return place < 0 ? LONGEST.length : place
    }
    return (await super.sort(files)).sort((first, second) => order(first) - order(second))
  }
}

/** Real browser, real server, real agent: `make browser`. */
export default defineConfig({
  root: new URL('.', import.meta.url).pathname,
  test: {
    include: ['*.test.ts'],
    environment: 'node',
    // Two cores: two files at a time, each with a server of its own; the files of a worker share a
    // browser. `make test` runs them beside the Python tests, one at a time.
    maxWorkers: Number(process.env.BROWSER_WORKERS ?? 2),
    // Files share the modules that they import: Playwright is loaded once per worker.
    isolate: false,
    sequence: { sequencer: LongestFirst },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 45_000 } },
    // A complete submission depends on each test in CI; retried tests are named at the end.
    retry: process.env.CI ? 1 : 0,
    reporters: ['default', './failureReporter.ts'],
  },
})

import { expect, test } from 'vitest'
import { filesBelow, isScript, textOf } from './source'

/** Lines of test for each line of a component that contains logic. */
const MIN_RATIO = 0.4

/** Where a component checks, converts or remembers what a person enters, or computes what is drawn. */
const FOLDERS = {
  forms: [
    'src/ui/form',
    'src/ui/arguments',
    'src/ui/run',
    'src/pages/indicators/form',
    'src/pages/jobs/dialogs',
    'src/pages/monitors/form',
    'src/pages/schedules/form',
    'src/pages/tasks/draft',
    'src/pages/tasks/form',
    'src/pages/webhooks/detail',
    'src/pages/webhooks/form',
  ],
  filters: ['src/ui/list', 'src/pages/jobs/filters'],
  log: ['src/ui/log'],
  editors: ['src/ui/editor', 'src/ui/editConflict', 'src/ui/graph', 'src/pages/workflows/editor'],
}

const isTest = (path: string) => /\.test\.tsx?$/.test(path)
const isCatalogue = (path: string) => /[tT]ext\.ts$/.test(path)
const lines = (paths: string[]) =>
  paths.reduce((sum, path) => sum + textOf(path).split('\n').length - 1, 0)

function measure(folder: string) {
  const files = filesBelow(folder).filter((path) => isScript(path) && !isCatalogue(path))
  return { code: lines(files.filter((path) => !isTest(path))), test: lines(files.filter(isTest)) }
}

const sizes = Object.values(FOLDERS)
  .flat()
  .map((folder) => ({ folder, ...measure(folder) }))

test('each folder of components with logic has tests beside them', () => {
  expect(sizes.filter(({ code, test }) => code > 0 && test === 0)).toEqual([])
})

test(`each folder of components with logic has ${MIN_RATIO} lines of test per line`, () => {
  expect(sizes.filter(({ code, test }) => test / code < MIN_RATIO)).toEqual([])
})

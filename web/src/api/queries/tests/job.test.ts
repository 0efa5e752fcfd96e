// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { countsByName } from '../job'

test('counts of states are added up under the names of the filter', () => {
  const counts = countsByName([
    { lifecycle: 'finished', state: 'failure', count: 2 },
    { lifecycle: 'terminated', state: 'timeout', count: 1 },
    { lifecycle: 'assigned', state: 'in_progress', count: 4 },
  ])
  expect(counts).toMatchObject({ failure: 3, running: 4, success: 0 })
})

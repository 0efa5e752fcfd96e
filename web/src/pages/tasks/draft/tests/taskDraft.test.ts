// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import type { Task } from '../../../../api/queries/automation/task'
import { mergeEdits } from '../../../../ui/editConflict/heldVersion'
import { changedFields } from '../taskDraft'
import { emptyTask } from '../templates'

test('an edit back to the saved value is not a change', () => {
  const base = { ...emptyTask('script'), name: 'a' } as Task
  const edits = mergeEdits(base, {}, { name: 'b' })
  expect(edits).toEqual({ name: 'b' })
  expect(mergeEdits(base, edits, { name: 'a' })).toEqual({})
  expect(changedFields(base, { ...base, name: 'b', version: 9 })).toEqual(['name'])
})

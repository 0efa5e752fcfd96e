// @vitest-environment happy-dom
import { act, cleanup, renderHook } from '@testing-library/react'
import { afterEach, expect, test } from 'vitest'
import { changedFields, mergeEdits, useHeldVersion } from '../heldVersion'

afterEach(cleanup)

interface Task {
  version: number
  name: string
  timeout: number
}

const first: Task = { version: 1, name: 'Backup', timeout: 60 }
const fieldsOf = ({ name, timeout }: Task) => ({ name, timeout })

function edit(record: Task) {
  return renderHook((task: Task) => useHeldVersion(task, fieldsOf), { initialProps: record })
}

test('an edit is kept apart from the record, and undone by typing the old value', () => {
  const { result } = edit(first)
  act(() => result.current.set({ name: 'Restore' }))
  expect(result.current.values).toEqual({ name: 'Restore', timeout: 60 })
  expect(result.current.edits).toEqual({ name: 'Restore' })
  act(() => result.current.set({ name: 'Backup' }))
  expect(result.current.isDirty).toBe(false)
})

test('without edits the fields follow the server', () => {
  const { result, rerender } = edit(first)
  rerender({ version: 2, name: 'Nightly backup', timeout: 60 })
  expect(result.current.values.name).toBe('Nightly backup')
  expect(result.current.theirs).toBeNull()
})

test('with edits a newer version is offered, and the edits stay', () => {
  const { result, rerender } = edit(first)
  act(() => result.current.set({ name: 'Restore' }))
  const newer = { version: 2, name: 'Nightly backup', timeout: 60 }
  rerender(newer)
  expect(result.current.theirs).toEqual(newer)
  expect(result.current.base).toEqual(first)
  expect(result.current.values.name).toBe('Restore')
})

test('the same change by two people is no conflict', () => {
  const { result, rerender } = edit(first)
  act(() => result.current.set({ timeout: 90 }))
  rerender({ version: 2, name: 'Backup', timeout: 90 })
  expect(result.current.theirs).toBeNull()
  expect(result.current.isDirty).toBe(false)
})

test('rebasing keeps the edits, or drops them', () => {
  const { result, rerender } = edit(first)
  const newer = { version: 2, name: 'Backup', timeout: 90 }
  act(() => result.current.set({ name: 'Restore' }))
  rerender(newer)
  act(() => result.current.rebase(newer, true))
  expect(result.current.values).toEqual({ name: 'Restore', timeout: 90 })
  expect(result.current.base.version).toBe(2)
  act(() => result.current.rebase(newer, false))
  expect(result.current.values).toEqual({ name: 'Backup', timeout: 90 })
})

test('fields are compared by content', () => {
  expect(mergeEdits({ tags: ['a'] }, {}, { tags: ['a'] })).toEqual({})
  expect(changedFields({ tags: ['a'], name: 'x' }, { tags: ['b'], extra: 1 })).toEqual([
    'tags',
    'name',
    'extra',
  ])
})

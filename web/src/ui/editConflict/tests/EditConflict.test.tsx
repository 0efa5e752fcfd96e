// @vitest-environment happy-dom
import { act, screen } from '@testing-library/react'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { click, renderInConsole, renderPage, watchToasts } from '../../../../tests/unit/render'
import { answer, requestsTo } from '../../../../tests/unit/server'
import { ApiError } from '../../../api/errors'
import { ChangedFields } from '../ChangedFields'
import { EditConflict, reportSaveError } from '../EditConflict'
import { FieldsConflict } from '../FieldsConflict'
import { type HeldVersion, useHeldVersion } from '../heldVersion'

interface Host {
  id: string
  version: number
  name: string
  port: number
}

const OLD: Host = { id: 'h1', version: 1, name: 'web-1', port: 80 }
const NEW: Host = { id: 'h1', version: 2, name: 'web-1', port: 443 }
const fieldsOf = ({ name, port }: Host) => ({ name, port })
const STALE = new ApiError(412, 'stale', 'Changed.')

async function openConflict(level = 'viewer', error: Error | null = null) {
  const [onTake, onKeep] = [vi.fn(), vi.fn()]
  await renderPage(
    <EditConflict object="host" id="h1" version={2} error={error} onTake={onTake} onKeep={onKeep}>
      the difference
    </EditConflict>,
    { level },
  )
  return { onTake, onKeep }
}

test('a change by someone else is announced, and the reader decides', async () => {
  const { onTake, onKeep } = await openConflict()
  expect(screen.getByRole('status').textContent).toContain('Changed by someone else')
  expect(screen.getByText('Your edits are still here, not saved.')).toBeTruthy()
  await click('Use theirs')
  await click('Keep mine')
  expect([onTake, onKeep].map((call) => call.mock.calls.length)).toEqual([1, 1])
})

test('the difference is shown on request', async () => {
  await openConflict()
  expect(screen.queryByText('the difference')).toBeNull()
  await click('Show the difference')
  expect(await screen.findByText('the difference')).toBeTruthy()
})

test('after a save that came second the difference opens by itself', async () => {
  await openConflict('viewer', STALE)
  expect(await screen.findByText('the difference')).toBeTruthy()
  expect(screen.getByText('Not saved: someone else changed it in the meantime.')).toBeTruthy()
})

test('only a reader of the audit learns who it was', async () => {
  answer('GET /api/audit', [])
  await openConflict('manager')
  expect(requestsTo('GET /api/audit')).toEqual([])
})

let form: HeldVersion<Host, ReturnType<typeof fieldsOf>>
const save = { error: null, reset: vi.fn() }

function Form({ record }: { record: Host }) {
  form = useHeldVersion(record, fieldsOf)
  return <FieldsConflict object="host" heldVersion={form} fieldsOf={fieldsOf} save={save} />
}

/** Edits the name, then a newer version arrives. */
async function conflict() {
  const { client } = await renderPage(<Page />)
  act(() => form.set({ name: 'db-1' }))
  act(() => setRecord(NEW))
  return client
}
let setRecord: (record: Host) => void = () => {}
function Page() {
  const [record, set] = useState(OLD)
  setRecord = set
  return <Form record={record} />
}

test('without edits there is no notice', async () => {
  await renderPage(<Page />)
  act(() => setRecord(NEW))
  expect(screen.queryByRole('status')).toBeNull()
  expect(form.values).toEqual({ name: 'web-1', port: 443 })
})

test('keeping the own edits applies them to the newer version', async () => {
  await conflict()
  await click('Keep mine')
  expect(form.values).toEqual({ name: 'db-1', port: 443 })
  expect(form.base.version).toBe(2)
  expect(save.reset).toHaveBeenCalled()
  expect(screen.queryByRole('status')).toBeNull()
})

test('using theirs drops them', async () => {
  await conflict()
  await click('Use theirs')
  expect(form.values).toEqual({ name: 'web-1', port: 443 })
  expect(form.isDirty).toBe(false)
})

test('a field that both changed is marked, and both values are shown', () => {
  renderInConsole(
    <ChangedFields
      before={{ name: '', tags: ['a'], same: 1 }}
      after={{ name: 'x', tags: ['b'], same: 1 }}
      edits={{ name: 'mine' }}
    />,
  )
  const values = [...document.querySelectorAll('pre')].map((value) => value.textContent)
  expect(values).toEqual(['""', 'x', '[\n "a"\n]', '[\n "b"\n]'])
  expect(screen.getAllByText('also changed by you')).toHaveLength(1)
})

test('a save that came second reads the record again; another error is only reported', () => {
  const toasts = watchToasts()
  const again = vi.fn()
  reportSaveError(STALE, again)
  expect(again).toHaveBeenCalledOnce()
  reportSaveError(new ApiError(500, 'internal', 'Internal error.'), again)
  expect(again).toHaveBeenCalledOnce()
  expect(toasts()).toEqual([
    'Not saved: someone else changed it in the meantime.',
    'Internal error.',
  ])
})

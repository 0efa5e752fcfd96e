// @vitest-environment happy-dom

import { useNavigate, useSearch } from '@tanstack/react-router'
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import {
  button,
  click,
  enter,
  field,
  press,
  renderPage,
  submit,
  watchToasts,
} from '../../../../../tests/unit/render'
import { answer, answerNames, requestsTo } from '../../../../../tests/unit/server'
import type { JobFilter } from '../../../../api/queries/job'
import { validFilter } from '../../search'
import { activeMoreFilters } from '../activeFilters'
import { JobFilters } from '../JobFilters'
import { filterOf, queryOf } from '../SavedViews'

const VIEWS = [
  { id: 'v1', name: 'Failed today', page: 'jobs', query: 'state=failure&from=24h', mine: true },
  { id: 'v2', name: 'Everything', page: 'jobs', query: '', shared: true, mine: false },
  { id: 'v3', name: 'Elsewhere', page: 'tasks', query: '', mine: true },
]

beforeEach(() => {
  answer('GET /view', VIEWS)
  answerNames('task', [{ id: 't1', name: 'Backup', detail: 'web-1' }])
  answer('GET /job/counts', { counts: [], more: false })
  answerNames('host', [{ id: 'h1', name: 'web-1' }])
  answer('GET /api/member', [{ id: 'm1', user: { id: 'u1', name: 'Ana' } }])
})

/** As the page of jobs does: the filter is the address. */
function Filters() {
  const filter = useSearch({ strict: false }) as JobFilter
  const navigate = useNavigate()
  const onFilter = (change: Partial<JobFilter>) =>
    void navigate({ to: '.', search: ((old: JobFilter) => ({ ...old, ...change })) as never })
  return <JobFilters filter={filter} onFilter={onFilter} total={1500} more />
}

const open = (address = '/jobs', level = 'owner') =>
  renderPage(<Filters />, { address, level, validateSearch: validFilter as never })

test('a state filters, and pressed again it does not', async () => {
  const { location } = await open()
  await click('Failed')
  await waitFor(() => expect(location().search).toEqual({ state: 'failure' }))
  expect(button('Failed').getAttribute('aria-pressed')).toBe('true')
  await click('Running')
  await waitFor(() => expect(location().search).toEqual({ state: 'running' }))
  await click('Running')
  await waitFor(() => expect(location().search).toEqual({}))
})

test('a filter in the address is visible in every control', async () => {
  await open('/jobs?state=lost&q=backup&task=t1&from=7d')
  expect(button('Lost').getAttribute('aria-pressed')).toBe('true')
  expect(field('Name, id, argument, result').value).toBe('backup')
  await click('More filters (2)')
  const task = await screen.findByRole('combobox', { name: 'Task' })
  await waitFor(() => expect((task as HTMLInputElement).value).toBe('Backup · web-1'))
  expect(field('Period').value).toBe('7d')
})

test('typing filters after a pause, with one change of the address', async () => {
  vi.useFakeTimers({ shouldAdvanceTime: true })
  const { location } = await open()
  for (const text of ['b', 'ba', ' bac ']) enter('Name, id, argument, result', text)
  expect(location().search).toEqual({})
  await act(() => vi.advanceTimersByTimeAsync(300))
  await waitFor(() => expect(location().search).toEqual({ q: 'bac' }))
  vi.useRealTimers()
})

test('the slash key goes to the field', async () => {
  await open()
  const select = vi.spyOn(field('Name, id, argument, result'), 'select')
  press('/')
  expect(select).toHaveBeenCalled()
})

test('more filters are counted on their button', () => {
  expect(activeMoreFilters({ state: 'lost', q: 'x' })).toBe(0)
  expect(activeMoreFilters({ task: 't1', origin: 'user', from: '24h' })).toBe(3)
})

test('task, host, person and origin are chosen from lists that can be searched', async () => {
  const { location } = await open()
  await click('More filters')
  const task = await screen.findByRole('combobox', { name: 'Task' })
  fireEvent.click(task)
  fireEvent.click(await screen.findByText('Backup · web-1'))
  await waitFor(() => expect(location().search).toEqual({ task: 't1' }))
})

test('a task of the address that does not exist any more stays visible', async () => {
  await open('/jobs?task=65f0c0ffee')
  await click('More filters (1)')
  const task = await screen.findByRole('combobox', { name: 'Task' })
  await waitFor(() => expect((task as HTMLInputElement).value).toBe('#c0ffee'))
})

test('a period of two moments has two fields', async () => {
  const { location } = await open()
  await click('More filters')
  await screen.findByLabelText('Period')
  expect(screen.queryByLabelText('From')).toBeNull()
  await act(async () => enter('Period', 'custom'))
  await waitFor(() => expect(field('From').value).not.toBe(''))
  await act(async () => enter('To', '2026-05-04T08:30'))
  const until = new Date('2026-05-04T08:30').toISOString()
  await waitFor(() => expect(location().search).toMatchObject({ to: until }))
  await act(async () => enter('Period', '24h'))
  await waitFor(() => expect(location().search).toEqual({ from: '24h' }))
})

test('all filters are cleared at once', async () => {
  const { location } = await open('/jobs?state=lost&q=backup&host=h1')
  await click('Clear filters')
  await waitFor(() => expect(location().search).toEqual({}))
  expect(screen.queryByRole('button', { name: 'Clear filters' })).toBeNull()
})

test('the number of jobs says if there are more', async () => {
  await open()
  expect(screen.getByText('1,500 jobs+')).toBeTruthy()
})

test('a saved view sets its filters, and views of other pages are not listed', async () => {
  const { location } = await open('/jobs?q=other')
  await click('Views')
  expect(screen.queryByRole('menuitem', { name: /Elsewhere/ })).toBeNull()
  await click('Failed today', 'menuitem')
  await waitFor(() => expect(location().search).toEqual({ state: 'failure', from: '24h' }))
})

test('only own views can be deleted', async () => {
  answer('DELETE /view/v1', null)
  await open()
  await click('Views')
  await screen.findByText('Everything')
  expect(screen.queryByRole('button', { name: 'Delete the view Everything' })).toBeNull()
  await click('Delete the view Failed today')
  await waitFor(() => expect(requestsTo('DELETE /view/v1')).toHaveLength(1))
})

test('the filters of the list are saved under a name', async () => {
  answer('POST /view', {})
  const toasts = watchToasts()
  await open('/jobs?state=lost&host=h1')
  await click('Views')
  await click('Save this view…', 'menuitem')
  expect(button('Save').disabled).toBe(true)
  await submit('Save')
  expect(requestsTo('POST /view')).toEqual([])
  enter('Name of the view', ' Lost on web-1 ')
  fireEvent.click(field('Visible to everyone in the organization'))
  await submit('Save')
  await waitFor(() => expect(toasts()).toEqual(['View saved']))
  expect(requestsTo('POST /view')[0]!.body).toEqual({
    name: 'Lost on web-1',
    page: 'jobs',
    query: 'state=lost&host=h1',
    shared: true,
  })
})

test('a filter survives being saved', () => {
  const filter = { state: 'lost', q: 'a&b=c', from: '2026-01-01T00:00:00Z' }
  expect(filterOf(queryOf(filter))).toEqual(filter)
  expect(filterOf('unknown=1&q=x')).toEqual({ q: 'x' })
})

test('the history is deleted only after a word was typed', async () => {
  answer('DELETE /job/finished', { deletedCount: 7 })
  const toasts = watchToasts()
  await open()
  await click('Delete finished…')
  await click('Delete finished…', 'menuitem')
  await submit('Delete finished jobs')
  expect(requestsTo('DELETE /job/finished')).toEqual([])
  enter('Type delete to confirm', 'delete')
  await submit('Delete finished jobs')
  await waitFor(() => expect(toasts()).toEqual(['7 jobs deleted']))
})

test('a reader below admin cannot delete the history', async () => {
  await open('/jobs', 'manager')
  expect(screen.queryByRole('button', { name: 'Delete finished…' })).toBeNull()
})

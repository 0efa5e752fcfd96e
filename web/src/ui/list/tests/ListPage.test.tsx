// @vitest-environment happy-dom

import { useQuery } from '@tanstack/react-query'
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { Box } from 'lucide-react'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { click, enter, press, renderInConsole, renderPage } from '../../../../tests/unit/render'
import { answer, refusal } from '../../../../tests/unit/server'
import { api, ok } from '../../../api/client'
import { ListPage } from '../ListPage'
import { LoadMore } from '../LoadMore'
import { validListSearch } from '../listSearch'

type Query = React.ComponentProps<typeof LoadMore>['query']

function RowsOf({ names }: { names: string[] }) {
  const [message, setMessage] = useState('')
  return (
    <>
      {names.map((name) => (
        <div key={name} data-row={name}>
          <a href={`#${name}`}>{name}</a>
          <button type="button" data-act="run" onClick={() => setMessage(`ran ${name}`)} />
        </div>
      ))}
      <p>{message}</p>
    </>
  )
}

function Page({ mayCreate = true }: { mayCreate?: boolean }) {
  const query = useQuery({
    queryKey: ['names'],
    queryFn: () => ok<string[]>(api.GET('/task') as never),
  })
  return (
    <ListPage
      query={query}
      count={(n) => `${n} tasks`}
      make={mayCreate ? { to: '/tasks/new', word: 'New task' } : null}
      find={{ label: 'Filter tasks', textOf: (name) => name }}
      first={{ icon: Box, title: 'No tasks yet', body: 'Create the first one.' }}
    >
      {(names) => <RowsOf names={names} />}
    </ListPage>
  )
}

const open = (page = <Page />) =>
  renderPage(page, { address: '/tasks', validateSearch: validListSearch })

test('the rows are listed and counted, and the filter narrows both', async () => {
  answer('GET /task', ['Backup', 'Restore'])
  await open()
  expect(await screen.findByText('2 tasks')).toBeTruthy()
  await act(async () => enter('Filter tasks', 'rest'))
  await waitFor(() => expect(screen.getByText('1 tasks')).toBeTruthy())
  expect(screen.queryByText('Backup')).toBeNull()
})

test('an empty list says how to begin, and has no filter', async () => {
  answer('GET /task', [])
  await open()
  expect(await screen.findByText('No tasks yet')).toBeTruthy()
  expect(screen.queryByLabelText('Filter tasks')).toBeNull()
})

test('a filter that matches nothing is not an empty list', async () => {
  answer('GET /task', ['Backup'])
  await open()
  await screen.findByText('Backup')
  await act(async () => enter('Filter tasks', 'zzz'))
  expect(await screen.findByText('No matches')).toBeTruthy()
  expect(screen.queryByText('No tasks yet')).toBeNull()
})

test('a list that cannot be loaded can be tried again', async () => {
  answer('GET /task', refusal(500, 'Internal error.'))
  await open()
  await screen.findByText('Internal error.')
  answer('GET /task', ['Backup'])
  await click('Try again')
  expect(await screen.findByText('Backup')).toBeTruthy()
})

test('c creates a record, if the reader may', async () => {
  answer('GET /task', [])
  const { location } = await open()
  await act(async () => press('c'))
  await waitFor(() => expect(location().pathname).toBe('/acme/tasks/new'))
})

test('a reader without permission to create has no button and no shortcut', async () => {
  answer('GET /task', [])
  const { location } = await open(<Page mayCreate={false} />)
  await screen.findByText('No tasks yet')
  expect(screen.queryByRole('link', { name: 'New task' })).toBeNull()
  await act(async () => press('c'))
  expect(location().pathname).toBe('/acme/tasks')
})

test('j and k walk over the rows, and r runs the row in focus', async () => {
  answer('GET /task', ['Backup', 'Restore'])
  await open()
  await screen.findByText('Backup')
  press('j')
  expect(document.activeElement!.textContent).toBe('Backup')
  fireEvent.keyDown(document.activeElement!, { key: 'j' })
  expect(document.activeElement!.textContent).toBe('Restore')
  fireEvent.keyDown(document.activeElement!, { key: 'r' })
  expect(await screen.findByText('ran Restore')).toBeTruthy()
  fireEvent.keyDown(document.activeElement!, { key: 'k' })
  expect(document.activeElement!.textContent).toBe('Backup')
})

const pages = (change: Partial<Query> = {}): Query => ({
  hasNextPage: true,
  isFetching: false,
  isFetchingNextPage: false,
  isFetchNextPageError: false,
  fetchNextPage: vi.fn(),
  ...change,
})

test('the end of a list says how many more there are, and loads them', async () => {
  const query = pages()
  renderInConsole(<LoadMore query={query} remaining={1200} />)
  await click('Show 1,200 more')
  expect(query.fetchNextPage).toHaveBeenCalledOnce()
})

test('a complete list has no such button', () => {
  renderInConsole(<LoadMore query={pages({ hasNextPage: false })} />)
  expect(screen.queryByRole('button')).toBeNull()
})

test.each([
  ['loads by itself', {}, 1],
  ['does not load twice', { isFetching: true }, 0],
  ['does not repeat a failure by itself', { isFetchNextPageError: true }, 0],
])('a list that comes into view %s', async (_, change, calls) => {
  let notify: (entries: { isIntersecting: boolean }[]) => void = () => {}
  vi.stubGlobal(
    'IntersectionObserver',
    class {
      constructor(callback: typeof notify) {
        notify = callback
      }
      observe() {}
      disconnect() {}
    },
  )
  const query = pages(change)
  renderInConsole(<LoadMore query={query} whenVisible />)
  await act(async () => notify([{ isIntersecting: true }]))
  expect(query.fetchNextPage).toHaveBeenCalledTimes(calls)
  vi.unstubAllGlobals()
})

// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { expect, test } from 'vitest'
import { enter, field, press, renderPage } from '../../../../tests/unit/render'
import { validListSearch } from '../listSearch'
import { SearchField, useListSearch } from '../SearchField'

function Names() {
  const { isIn } = useListSearch()
  return <p>{['Backup', 'Restore', 'Clean up'].filter(isIn).join(', ')}</p>
}

function open(address = '/tasks') {
  const page = (
    <>
      <SearchField label="Filter tasks" />
      <Names />
    </>
  )
  return renderPage(page, { address, validateSearch: validListSearch })
}

test('the search text filters the list and is kept in the address', async () => {
  const { location } = await open()
  expect(screen.getByText('Backup, Restore, Clean up')).toBeTruthy()
  await act(async () => enter('Filter tasks', 'UP'))
  await waitFor(() => expect(screen.getByText('Backup, Clean up')).toBeTruthy())
  expect(location().search).toEqual({ q: 'UP' })
})

test('an address with a filter fills the field', async () => {
  await open('/tasks?q=rest')
  expect(field('Filter tasks').value).toBe('rest')
  expect(screen.getByText('Restore')).toBeTruthy()
})

test('an empty field leaves nothing in the address', async () => {
  const { location } = await open('/tasks?q=rest')
  await act(async () => enter('Filter tasks', ''))
  await waitFor(() => expect(location().search).toEqual({}))
})

test('going to another address changes the field, unless someone types in it', async () => {
  const { router } = await open('/tasks?q=rest')
  await act(() => router.navigate({ to: '/acme/tasks', search: { q: 'back' } } as never))
  await waitFor(() => expect(field('Filter tasks').value).toBe('back'))
  field('Filter tasks').focus()
  await act(() => router.navigate({ to: '/acme/tasks', search: { q: 'late' } } as never))
  await waitFor(() => expect(screen.queryByText('Backup')).toBeNull())
  expect(field('Filter tasks').value).toBe('back')
})

test('typing does not fill the history of the browser', async () => {
  const { router } = await open()
  const length = router.history.length
  for (const text of ['b', 'ba', 'bac']) await act(async () => enter('Filter tasks', text))
  expect(router.history.length).toBe(length)
})

test('the slash key goes to the field', async () => {
  await open()
  press('/')
  expect(document.activeElement).toBe(field('Filter tasks'))
  fireEvent.keyDown(field('Filter tasks'), { key: '/' })
  expect(document.activeElement).toBe(field('Filter tasks'))
})

test('only a text is a filter', () => {
  expect(validListSearch({ q: 7, other: 'x' })).toEqual({ q: '7' })
  expect(validListSearch({ q: '' })).toEqual({})
})

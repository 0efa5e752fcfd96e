// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test, vi } from 'vitest'
import { click, renderPage, watchToasts } from '../../../../tests/unit/render'
import { answer } from '../../../../tests/unit/server'
import { Versions } from '../Versions'

beforeEach(() => {
  const entry = { size: 10, creation_date: '2026-01-01T00:00:00Z', created_by: 'ana' }
  answer(
    'GET /file/s1/versions',
    [3, 2, 1].map((version) => ({ ...entry, version })),
  )
  answer(
    'GET /file/s1/download',
    ({ query }: { query: Record<string, string> }) => new Response(`text ${query.version}`),
  )
})

const chooseVersion = async (label: string) => fireEvent.click(await screen.findByLabelText(label))

test('an older version is compared with the newest on request', async () => {
  await renderPage(<Versions id="s1" />)
  await chooseVersion('Version 1')
  expect(await screen.findByText(/First version/)).toBeTruthy()
  fireEvent.click(screen.getByLabelText('Compare with the newest version'))
  const changes = await screen.findByRole('region', { name: 'Changes since version 1' })
  expect(changes.textContent).toContain('text 1')
  expect(changes.textContent).toContain('text 3')
})

test('a reader who may not restore has no button for it', async () => {
  await renderPage(<Versions id="s1" />)
  await chooseVersion('Version 2')
  await screen.findByLabelText('Compare with the newest version')
  expect(screen.queryByRole('button', { name: /Restore/ })).toBeNull()
})

test('a restored version leads back to the newest one', async () => {
  const onRestore = vi.fn(async () => {})
  await renderPage(<Versions id="s1" onRestore={onRestore} />)
  expect(screen.queryByRole('button', { name: /Restore/ })).toBeNull()
  await chooseVersion('Version 2')
  await click('Restore version 2')
  expect(onRestore).toHaveBeenCalledWith(2)
  expect(await screen.findByRole('region', { name: 'Changes in version 3' })).toBeTruthy()
})

test('a version that cannot be restored stays chosen, and the reason is shown', async () => {
  const toasts = watchToasts()
  await renderPage(<Versions id="s1" onRestore={() => Promise.reject(new Error('No space.'))} />)
  await chooseVersion('Version 2')
  await click('Restore version 2')
  await waitFor(() => expect(toasts().join()).toContain('No space.'))
  expect(screen.getByLabelText<HTMLInputElement>('Version 2').checked).toBe(true)
})

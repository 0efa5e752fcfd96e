// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { renderPage } from '../../../../../tests/unit/render'
import { answer } from '../../../../../tests/unit/server'
import { HostPage } from '../HostPage'

const HOST = {
  id: 'h1',
  hostname: 'web-1',
  state: 'online',
  enable: true,
  draining: false,
  tags: [],
  os_name: 'Debian',
  os_version: '13',
  last_seen: '2026-03-02T09:00:00.000Z',
  creation_date: '2026-03-01T09:00:00.000Z',
  disk_full_since: null,
  disk_message: '',
  update_failed_since: null,
}
const DISK_NOTE = /Its disk is full; it gets no jobs until there is space/

async function open(change: object = {}, warnings: object[] = []) {
  answer('GET /host/h1', { ...HOST, ...change })
  answer('GET /-/board/hosts', [{ id: 'h1', warnings }])
  for (const path of ['/monitor', '/task', '/job', '/-/board/jobs', '/-/board/monitors'])
    answer(`GET ${path}`, [])
  await renderPage(<HostPage />, { address: '/hosts/h1', path: 'hosts/$id' })
  await screen.findByText('Debian 13')
}

test('a host with a full disk says since when, and what its agent reports', async () => {
  await open({
    disk_full_since: '2026-03-02T09:30:00.000Z',
    disk_message: 'Only 12 MB are free on /var/lib/belvedere.',
  })
  const note = screen.getByText(DISK_NOTE)
  expect(note.textContent).toMatch(/Mar.*2026/)
  expect(note.textContent).toContain('Only 12 MB are free on /var/lib/belvedere.')
})

test('a host with space has no such note', async () => {
  await open()
  expect(screen.queryByText(DISK_NOTE)).toBeNull()
})

const ROLLED_BACK = 'The agent’s journal was rolled back'

test('a host that was rolled back says since when and why, and links to its lost jobs', async () => {
  await open({}, [
    { code: 'journal_rolled_back', since: '2026-03-02T09:30:00.000Z', jobs: 0, message: '' },
  ])
  expect(await screen.findByText(ROLLED_BACK)).toBeTruthy()
  const body = screen.getByText(/The disk of the host was probably restored from a snapshot/)
  expect(body.textContent).toMatch(/Since .*Mar.*2026/)
  const link = screen.getByRole('link', { name: 'Show lost jobs' })
  expect(link.getAttribute('href')).toBe('/acme/jobs?host=h1&state=lost')
})

test('a host that was not rolled back has no such warning', async () => {
  await open({}, [
    { code: 'journal_refused', since: null, jobs: 0, message: 'Run belvedere mark-restored.' },
  ])
  expect(await screen.findByText('The server refuses the agent of this host')).toBeTruthy()
  expect(screen.getByText('Run belvedere mark-restored.')).toBeTruthy()
  expect(screen.queryByText(ROLLED_BACK)).toBeNull()
  expect(screen.queryByRole('link', { name: 'Show lost jobs' })).toBeNull()
})

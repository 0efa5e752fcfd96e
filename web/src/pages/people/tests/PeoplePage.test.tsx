// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { click, enter, renderPage, submit } from '../../../../tests/unit/render'
import { answer } from '../../../../tests/unit/server'
import { PeoplePage } from '../PeoplePage'

const LOCAL = /This link works only on this machine/

afterEach(() => void vi.unstubAllGlobals())

async function invite(level?: string) {
  answer('GET /api/member', [])
  answer('POST /api/member', { id: 'm1', invitation: { token: 'bvl_1' } })
  await renderPage(<PeoplePage />, { level })
  await click('Invite')
  enter('E-mail', 'vic@example.org')
  await submit('Cancel')
  await screen.findByText(/link#bvl_1$/)
}

test('an invitation made at a loopback address says that it works only on this machine', async () => {
  await invite()
  expect(screen.getByText(LOCAL)).toBeTruthy()
  const link = screen.getByRole('link', { name: /How to start the server/ })
  expect(link.getAttribute('href')).toBe('/acme/hosts/add')
})

test('a manager, who may not add hosts, gets no link to that page', async () => {
  await invite('manager')
  expect(screen.getByText(LOCAL)).toBeTruthy()
  expect(screen.queryByRole('link')).toBeNull()
})

test('an invitation made at another address does not', async () => {
  vi.stubGlobal('location', { origin: 'https://b.example' })
  await invite()
  expect(screen.queryByText(LOCAL)).toBeNull()
})

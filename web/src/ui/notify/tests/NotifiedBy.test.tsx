// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { renderPage } from '../../../../tests/unit/render'
import { answer, requestsTo } from '../../../../tests/unit/server'
import { NotifiedBy } from '../NotifiedBy'

const view = <NotifiedBy failure={{ kind: 'monitor.failure', objectIds: [], tags: [] }} />

test('a user reads that an admin sets up notifications', async () => {
  await renderPage(view, { level: 'user' })
  expect(screen.getByText('An admin sets up who is notified of a failure.')).toBeTruthy()
  expect(requestsTo('GET /notify/rule')).toEqual([])
})

test('a manager reads who is notified, without rules and channels', async () => {
  answer('GET /notify/recipients', [{ name: 'ops' }, { name: 'on call' }])
  await renderPage(view, { level: 'manager' })
  expect(await screen.findByText(/A failure is sent to ops, on call/)).toBeTruthy()
  expect(requestsTo('GET /notify/rule')).toEqual([])
  expect(requestsTo('GET /notify/channel')).toEqual([])
})

test('a manager reads that nobody is notified, and who can change it', async () => {
  answer('GET /notify/recipients', [])
  await renderPage(view, { level: 'manager' })
  expect(await screen.findByText(/Nobody is notified of a failure\. An admin sets up/)).toBeTruthy()
})

test('an admin reads that nobody is notified', async () => {
  answer('GET /notify/rule', [])
  answer('GET /notify/channel', [])
  await renderPage(view, { level: 'admin' })
  expect(await screen.findByText(/Nobody is notified of a failure/)).toBeTruthy()
})

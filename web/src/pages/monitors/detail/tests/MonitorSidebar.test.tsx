// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { renderPage } from '../../../../../tests/unit/render'
import { answer, requestsTo } from '../../../../../tests/unit/server'
import type { Monitor } from '../../../../api/queries/monitoring/monitor'
import { MonitorSidebar } from '../MonitorSidebar'
import { ProcessList, rowsOf } from '../ProcessList'

const STATS = 'GET /host/h1/stats'

const monitor = {
  id: 'm1',
  type: 'file',
  name: 'site',
  looptime: 60_000,
  fail_threshold: 3,
  failure_severity: 'LOW',
  config: { path: '/etc/site.conf', file: 'f1', permissions: '0640', os_username: '' },
  last_event: {},
  maintenance: [],
  triggers: [],
} as unknown as Monitor

beforeEach(() => {
  answer('GET /file', [{ id: 'f1', filename: 'site.conf' }])
  answer(STATS, [
    { type: 'psaux', stats: [{ user: 'root', pid: 1, '%cpu': 0.5, command: 'init' }] },
  ])
})

test('a maintained file is shown by its name, with a link', async () => {
  await renderPage(<MonitorSidebar monitor={monitor} />, { level: 'manager' })
  const link = await screen.findByRole('link', { name: 'site.conf' })
  expect(link.getAttribute('href')).toBe('/acme/scripts/f1')
  expect(screen.getByText('0640')).toBeTruthy()
})

test('a viewer cannot read the names of files', async () => {
  await renderPage(<MonitorSidebar monitor={monitor} />, { level: 'viewer' })
  expect(screen.getByText('f1')).toBeTruthy()
  expect(requestsTo('GET /file')).toEqual([])
})

test('admins see the processes of the last check', async () => {
  await renderPage(<ProcessList hostId="h1" checkedAt={null} />, { level: 'admin' })
  expect(await screen.findByText('init')).toBeTruthy()
  expect(screen.getByText('0.5')).toBeTruthy()
})

test('others neither see nor request them', async () => {
  await renderPage(<ProcessList hostId="h1" checkedAt={null} />, { level: 'manager' })
  expect(screen.queryByText('Processes')).toBeNull()
  expect(requestsTo(STATS)).toEqual([])
})

test('data of an agent is shown if it is a list of objects', () => {
  expect(rowsOf(null)).toEqual([])
  expect(rowsOf({ cut: 1 })).toEqual([])
  expect(rowsOf([null, 'x', { pid: 1 }])).toEqual([{ pid: 1 }])
})

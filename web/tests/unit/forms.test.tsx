// @vitest-environment happy-dom
/** One pattern for forms: New has the order of Edit, and few options are visible at first. */
import { cleanup, screen } from '@testing-library/react'
import { type ComponentType, createElement } from 'react'
import { beforeEach, expect, test } from 'vitest'
import {
  EditIndicatorPage,
  NewIndicatorPage,
} from '../../src/pages/indicators/form/IndicatorEditPage'
import { NEW_VALUES } from '../../src/pages/indicators/form/indicatorDraft'
import { newValues } from '../../src/pages/monitors/form/kinds'
import { EditMonitorPage, NewMonitorPage } from '../../src/pages/monitors/form/MonitorEditPage'
import { SchedulePage } from '../../src/pages/schedules/detail/SchedulePage'
import { NewSchedulePage } from '../../src/pages/schedules/form/NewSchedulePage'
import { newArgument } from '../../src/pages/tasks/draft/templates'
import { WebhookPage } from '../../src/pages/webhooks/detail/WebhookPage'
import { NewWebhookPage } from '../../src/pages/webhooks/form/NewWebhookPage'
import { WorkflowSettingsTab } from '../../src/pages/workflows/detail/WorkflowSettingsTab'
import { formOutline, openGroups, renderPage, visibleOptions } from './render'
import { answer, answerNames } from './server'

const MAX_OPTIONS = 5
const WORKFLOW = { id: 'x1', name: 'Release', tags: [], description: '' }
const WorkflowSettings = () => <WorkflowSettingsTab workflow={WORKFLOW as never} />
const MONITOR = { ...newValues('scraper'), id: 'x1', type: 'scraper', version: 1, config: {} }
const SCHEDULE = { id: 'x1', name: 'Nightly', version: 1, task_id: 't1', repeatEvery: '0 7 * * *' }
const WEBHOOK = { id: 'x1', name: 'Push', enable: true, signature: 'none', version: 1 }

beforeEach(() => {
  answerNames('host', [{ id: 'h1', name: 'web-1' }])
  for (const list of ['file', 'notify/rule', 'notify/channel', 'workflows', 'monitor'])
    answer(`GET /${list}`, [])
  answerNames('task', [{ id: 't1', name: 'Backup', detail: 'web-1' }])
  const task_arguments = [newArgument('input', { label: 'Target' })]
  answer('GET /task/t1', { id: 't1', name: 'Backup', enable: true, acl: [], task_arguments })
  answer('GET /monitor/x1', MONITOR)
  answer('GET /indicator/x1', { ...NEW_VALUES, id: 'x1', title: 'Queue', version: 1 })
  answer('GET /schedule/x1', { ...SCHEDULE, timezone: 'UTC', enable: true, task_arguments: [] })
  answer('GET /webhook/x1', { ...WEBHOOK, tasks: ['t1'], workflows: [], trigger_count: 0 })
  answer('POST /schedule/preview', [])
})

const FORMS: [string, ComponentType, ComponentType, string, string][] = [
  ['monitors', NewMonitorPage, EditMonitorPage, '/new?kind=scraper', '/$id/settings'],
  ['indicators', NewIndicatorPage, EditIndicatorPage, '/new', '/$id/edit'],
  ['schedules', NewSchedulePage, SchedulePage, '/new?task=t1', '/$id'],
  ['webhooks', NewWebhookPage, WebhookPage, '/new', '/$id'],
]

async function outlineOf(page: ComponentType, address: string, path: string, button: string) {
  await renderPage(createElement(page), { address, path })
  await screen.findByRole('button', { name: button })
  const options = visibleOptions()
  await openGroups()
  const outline = formOutline()
  cleanup()
  return { options, outline }
}

test.each(FORMS)('%s: New and Edit have the same fields in the same order', async (...form) => {
  const [name, add, edit, newPath, editPath] = form
  const fresh = await outlineOf(add, `/${name}${newPath}`, `${name}/new`, 'Create')
  const address = `/${name}${editPath.replace('$id', 'x1')}`
  const old = await outlineOf(edit, address, `${name}${editPath}`, 'Save')
  const both = (list: string[], other: string[]) => list.filter((label) => other.includes(label))
  const order = both(fresh.outline, old.outline)
  expect(order.length).toBeGreaterThan(3)
  expect(both(old.outline, fresh.outline)).toEqual(order)
  expect(fresh.options.length, fresh.options.join()).toBeLessThanOrEqual(MAX_OPTIONS)
  expect(old.options.length, old.options.join()).toBeLessThanOrEqual(MAX_OPTIONS)
})

test.each([
  ['monitors', 'settings', 'Description', EditMonitorPage],
  ['indicators', 'edit', 'Second line', EditIndicatorPage],
  ['workflows', 'settings', 'Description', WorkflowSettings],
])('%s: the description comes before the tags', async (name, tab, description, page) => {
  const { outline } = await outlineOf(page, `/${name}/x1/${tab}`, `${name}/$id/${tab}`, 'Save')
  const at = outline.indexOf(description)
  expect(at).toBeGreaterThan(0)
  expect(outline[at + 1]).toBe('Tags')
})

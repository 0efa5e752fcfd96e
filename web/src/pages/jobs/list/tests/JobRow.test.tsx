// @vitest-environment happy-dom
import { fireEvent, screen } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { click, renderPage } from '../../../../../tests/unit/render'
import type { Job } from '../../../../api/queries/job'
import { useLinkProps } from '../../../../ui/AppLink'
import { JobRow } from '../JobRow'

const JOB = {
  id: '01a1e9118ea369e1b3ea0fb3',
  name: 'Nightly',
  _type: 'ScriptJob',
  task_id: 't1',
  lifecycle: 'finished',
  state: 'failure',
  origin: 'trigger_by',
  user: {},
  started_by: { kind: 'webhook', id: 'k1', name: 'crm-export' },
} as unknown as Job
const VALUES = { id: JOB.id, texts: ['prod'], more: false }

function Row({ job = JOB, isNarrow = false }) {
  const linkProps = useLinkProps()
  const ignore = () => {}
  return (
    <JobRow
      {...{ job, isNarrow, linkProps, values: VALUES, index: 0, y: 0, isActive: true }}
      {...{ isChosen: false, onToggle: ignore, onActive: ignore, onSame: ignore }}
    />
  )
}

afterEach(() => void vi.unstubAllGlobals())

test('a row links to the task or the workflow', async () => {
  const { unmount } = await renderPage(<Row />)
  const href = (name: string) => screen.getByRole('link', { name }).getAttribute('href')
  expect(href('Task')).toBe('/acme/tasks/t1')
  unmount()
  const run = { ...JOB, _type: 'WorkflowJob', task_id: null, workflow_id: 'w1' } as Job
  await renderPage(<Row job={run} />)
  expect(href('Workflow')).toBe('/acme/workflows/w1')
})

test('a card of a phone shows arguments, origin and task, too', async () => {
  await renderPage(<Row isNarrow />)
  expect(screen.getByText('webhook crm-export')).toBeTruthy()
  expect(screen.getByText('prod').className).toContain('chip')
  expect(screen.getByRole('link', { name: 'Task' })).toBeTruthy()
})

test('the id is copied also where the browser has no clipboard, on plain http', async () => {
  vi.stubGlobal('navigator', { ...navigator, clipboard: undefined })
  let text = ''
  document.execCommand = () => {
    text = document.querySelector('textarea')!.value
    return true
  }
  await renderPage(<Row />)
  fireEvent.click(screen.getByRole('button', { name: /Nightly/ }))
  await click('Copy the id', 'menuitem')
  expect(text).toBe(JOB.id)
})

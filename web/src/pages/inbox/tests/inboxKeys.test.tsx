// @vitest-environment happy-dom
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { press, renderPage } from '../../../../tests/unit/render'
import { answer, requestsTo } from '../../../../tests/unit/server'
import { pendingQuery } from '../../../api/queries/inbox'
import { DecisionRow } from '../../dashboard/cards/DecisionRow'
import { InboxPage } from '../InboxPage'

const approval = (id: string, answers = ['approve', 'reject']) => ({
  kind: 'approval',
  question: `Question ${id}`,
  answers,
  will_run: [],
  until: null,
  job: { id, name: `Task ${id}`, user: {}, creation_date: null, origin: 'user' },
})

const APPROVE = (id: string) => requestsTo(`PUT /job/${id}/approve`)
const REJECT = (id: string) => requestsTo(`PUT /job/${id}/reject`)

beforeEach(() => {
  for (const id of ['j1', 'j2'])
    for (const vote of ['approve', 'reject']) answer(`PUT /job/${id}/${vote}`, { id })
  answer('GET /-/needs', [approval('j1')])
  answer('GET /notification', [])
  answer('GET /job', [])
})

/** Keys are handled where the focus is. */
const pressHere = (key: string, modifiers: KeyboardEventInit = {}) =>
  act(async () => void fireEvent.keyDown(document.activeElement!, { key, ...modifiers }))

test('keys decide only about the row in focus, also if a newer one arrives', async () => {
  const { client } = await renderPage(<InboxPage />)
  await screen.findByText('Question j1')
  await act(async () => {
    press('a')
    press('R', { shiftKey: true })
  })
  expect([...APPROVE('j1'), ...REJECT('j1')]).toEqual([])
  await pressHere('j')
  act(
    () =>
      void client.setQueryData(pendingQuery.queryKey, [approval('j2'), approval('j1')] as never),
  )
  await screen.findByText('Question j2')
  await pressHere('a')
  await waitFor(() => expect(APPROVE('j1')).toHaveLength(1))
  expect(APPROVE('j2')).toEqual([])
})

test('the dashboard offers only the answers of the task', async () => {
  await renderPage(<DecisionRow need={approval('j1', ['approve']) as never} />)
  expect(screen.getByRole('button', { name: 'Approve' })).toBeTruthy()
  expect(screen.queryByRole('button', { name: 'Reject' })).toBeNull()
})

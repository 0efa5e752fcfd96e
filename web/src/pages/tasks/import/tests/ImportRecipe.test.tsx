// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from '@testing-library/react'
import { beforeEach, expect, test } from 'vitest'
import { choose, click, field, renderPage } from '../../../../../tests/unit/render'
import { answer, answerNames, requestsTo } from '../../../../../tests/unit/server'
import { useImportRecipe } from '../useImportRecipe'

const IMPORT = 'POST /workflows/import'
const RECIPE = { task: { name: 'Backup', type: 'script' } }
const RESULT = {
  workflow: { id: 'w1', name: 'Release' },
  tasks: [{ id: 't1', name: 'Backup' }],
  notes: ['ask: you are the approver'],
  not_imported: [
    { part: 'task Backup', field: 'acl', value: '["ann@example.com"]', reason: 'Grant access.' },
    { part: 'workflow Release', field: 'secret', value: '', reason: 'It has a new key.' },
  ],
}

beforeEach(() => {
  answerNames('host', [
    { id: 'h1', name: 'web-1' },
    { id: 'h2', name: 'web-2' },
  ])
  answer(IMPORT, RESULT)
})

async function open(level = 'admin') {
  const page = await renderPage(<ImportRecipe />, { address: '/tasks', path: 'tasks', level })
  if (level !== 'admin') return page
  await click('Import recipe')
  await screen.findByRole('button', { name: 'Import' })
  return page
}

function upload(text: string) {
  const input = document.querySelector<HTMLInputElement>('input[type="file"]')!
  fireEvent.change(input, { target: { files: [new File([text], 'recipe.json')] } })
}

function ImportRecipe() {
  const { button, dialog } = useImportRecipe()
  return (
    <>
      {button}
      {dialog}
    </>
  )
}

const submitButton = () => screen.getByRole('button', { name: 'Import' }) as HTMLButtonElement

test('an import lists what it created, what to check, and what it could not keep', async () => {
  await open()
  upload(JSON.stringify(RECIPE))
  await choose('Host', 'web-2')
  await waitFor(() => expect(submitButton().disabled).toBe(false))
  await click('Import')
  const table = await screen.findByRole('table', { name: 'Not imported: 2 fields' })
  expect(within(table).getByText('["ann@example.com"]')).toBeTruthy()
  expect(within(table).getByText('It has a new key.')).toBeTruthy()
  expect(screen.getByText('ask: you are the approver')).toBeTruthy()
  const links = screen.getAllByRole('link').map((link) => link.getAttribute('href'))
  expect(links).toEqual([expect.stringMatching(/tasks\/t1$/), expect.stringMatching(/flows\/w1$/)])
  const [request] = requestsTo(IMPORT)
  expect(request!.body).toEqual(RECIPE)
  expect(request!.query.hostname).toBe('web-2')
})

test('an import that kept everything says so', async () => {
  answer(IMPORT, { ...RESULT, workflow: null, notes: [], not_imported: [] })
  await open()
  upload(JSON.stringify(RECIPE))
  await waitFor(() => expect(submitButton().disabled).toBe(false))
  await click('Import')
  await screen.findByText('Every field was imported.')
  expect(screen.queryByRole('table')).toBeNull()
})

test('a file that is not JSON cannot be sent', async () => {
  await open()
  upload('{')
  await screen.findByText('This file is not JSON.')
  expect(submitButton().disabled).toBe(true)
})

test('the only host is chosen', async () => {
  answerNames('host', [{ id: 'h1', name: 'web-1' }])
  await open()
  await waitFor(() => expect(field('Host').value).toBe('web-1'))
})

test('only those who may create tasks can import', async () => {
  await open('manager')
  expect(screen.queryByRole('button', { name: 'Import recipe' })).toBeNull()
})

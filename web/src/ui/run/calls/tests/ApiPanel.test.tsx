// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import { afterEach, expect, test, vi } from 'vitest'
import { choose, click, enter, renderPage, watchToasts } from '../../../../../tests/unit/render'
import { answer, refusal, requestsTo } from '../../../../../tests/unit/server'
import { newArgument } from '../../../../pages/tasks/draft/templates'
import { ApiPanel } from '../ApiPanel'
import { curlCall, htmlForm, pythonCall } from '../apiCalls'
import { SecretKey } from '../SecretKey'

const TASK = { kind: 'task' as const, id: 't1', name: 'Backup' }
const KEY = 'GET /task/t1/credentials'
const ROTATE = 'POST /task/t1/credentials/rotate'

afterEach(() => void vi.unstubAllGlobals())

function answerTask() {
  const task_arguments = [newArgument('email', { label: 'To' })]
  answer('GET /task/t1', { name: 'Backup', enable: true, acl: [], task_arguments })
  answer(KEY, { secret: 's3cret' })
}

function clipboard() {
  const writeText = vi.fn(async () => {})
  vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText } })
  return writeText
}

const call = (name: string) => screen.getByRole('region', { name })

test('calls with a token have sample values and no secret', async () => {
  answerTask()
  await renderPage(<ApiPanel target={TASK} />)
  await screen.findByRole('region', { name: 'Command line' })
  expect(call('Command line').textContent).toContain('Bearer $BELVEDERE_TOKEN')
  expect(call('Command line').textContent).toMatch(/task_arguments":\["[^"]+@[^"]+"\]/)
  expect(call('Python').textContent).toContain('os.environ["BELVEDERE_TOKEN"]')
  expect(screen.queryByRole('region', { name: 'HTML form' })).toBeNull()
})

test('the secret stays hidden on the page, and is part of what is copied', async () => {
  answerTask()
  const writeText = clipboard()
  await renderPage(<ApiPanel target={TASK} />)
  await click('Secret key', 'tab')
  expect(call('HTML form').textContent).toContain('••••••••')
  expect(requestsTo(KEY)).toEqual([])
  await click('Copy: Command line')
  await waitFor(() => expect(writeText).toHaveBeenCalledOnce())
  expect(String(writeText.mock.lastCall)).toContain('/task/t1/secret/s3cret/job')
  expect(call('Command line').textContent).not.toContain('s3cret')
})

test('a person below admin gets a placeholder instead of the secret', async () => {
  answerTask()
  await renderPage(<ApiPanel target={TASK} />, { level: 'manager' })
  await click('Secret key', 'tab')
  expect(screen.getByText('Only admins may read or change the secret key.')).toBeTruthy()
  expect(call('Command line').textContent).toContain('/secret/KEY/')
})

test('the secret is read when it is shown, not before', async () => {
  answer(KEY, { secret: 's3cret' })
  const onSecret = vi.fn()
  await renderPage(<SecretKey kind="task" id="t1" secret="" onSecret={onSecret} />)
  expect(requestsTo(KEY)).toEqual([])
  await click('Show the secret key')
  await waitFor(() => expect(onSecret).toHaveBeenCalledWith('s3cret'))
})

test('a visible secret can be hidden again', async () => {
  const onSecret = vi.fn()
  await renderPage(<SecretKey kind="task" id="t1" secret="s3cret" onSecret={onSecret} />)
  expect(screen.getByText('s3cret')).toBeTruthy()
  await click('Hide the secret key')
  expect(onSecret).toHaveBeenCalledWith('')
})

test('changing the secret asks how long the old one works', async () => {
  answer(ROTATE, { secret: 'new' })
  const toasts = watchToasts()
  const onSecret = vi.fn()
  await renderPage(<SecretKey kind="task" id="t1" secret="" onSecret={onSecret} />)
  await click('Change the secret key')
  await choose('The old key still works for', 'one day')
  const dialog = await screen.findByRole('dialog')
  dialog.querySelector('form')!.requestSubmit()
  await waitFor(() => expect(onSecret).toHaveBeenCalledWith('new'))
  expect(requestsTo(ROTATE)[0]!.body).toEqual({ overlap: 86_400 })
  expect(toasts()).toContain('The secret key was changed.')
})

test('a secret that another service chose is sent, and its refusal is shown at the field', async () => {
  answer('POST /webhook/h1/credentials/rotate', () =>
    refusal(400, 'Invalid.', [{ field: 'secret', message: 'At least 16 characters.' }]),
  )
  await renderPage(
    <SecretKey kind="webhook" id="h1" secret="" onSecret={() => {}} chosenBy="GitHub" />,
  )
  await click('Change the secret key')
  enter('The signing secret that GitHub shows', ' short ')
  const dialog = await screen.findByRole('dialog')
  dialog.querySelector('form')!.requestSubmit()
  expect(await screen.findByText('At least 16 characters.')).toBeTruthy()
  expect(requestsTo('POST /webhook/h1/credentials/rotate')[0]!.body).toEqual({
    overlap: 0,
    secret: 'short',
  })
})

test('an HTML form has one field per free argument, of the right kind', () => {
  const text = htmlForm(TASK, 'key', [
    newArgument('fixed', { value: 'x' }),
    newArgument('email', { label: 'To', required: true }),
    newArgument('boolean', { label: 'Force', required: false }),
    newArgument('input', { label: 'Key', masked: true, required: false }),
    newArgument('json', { label: 'Data', required: false }),
  ])
  const form = new DOMParser().parseFromString(text, 'text/html')
  const fields = [...form.querySelectorAll('input, select, textarea')]
  expect(fields.map((input) => input.getAttribute('type') ?? input.tagName)).toEqual([
    'email',
    'SELECT',
    'password',
    'TEXTAREA',
  ])
  expect(fields.map((input) => input.hasAttribute('required'))).toEqual([true, false, false, false])
})

test('a form with a file is sent in parts', () => {
  expect(htmlForm(TASK, 'key', [newArgument('file')])).toContain('enctype="multipart/form-data"')
  expect(htmlForm(TASK, 'key', [newArgument('input')])).not.toContain('enctype')
})

test('calls without arguments have no body, and with a secret no token', () => {
  expect(curlCall(TASK, { secret: 'k' }, [])).not.toMatch(/-d |Authorization/)
  expect(pythonCall(TASK, { secret: 'k' }, [])).not.toContain('BELVEDERE_TOKEN')
})

// @vitest-environment happy-dom
import { redo, undo } from '@codemirror/commands'
import { EditorView } from '@codemirror/view'
import { act, fireEvent, screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { expect, test, vi } from 'vitest'
import { renderInConsole, renderPage } from '../../../../tests/unit/render'
import { answer, requestsTo } from '../../../../tests/unit/server'
import { DiffView } from '../DiffView'
import { changeTo } from '../documentChange'
import { Editor, type EditorProps } from '../Editor'
import { faultsIn } from '../syntaxCheck'
import { Versions } from '../Versions'

const view = () => EditorView.findFromDOM(screen.getByRole('textbox'))!
const text = () => view().state.doc.toString()
const insert = (at: number, added: string) =>
  act(async () => view().dispatch({ changes: { from: at, insert: added }, userEvent: 'input' }))

async function open(props: Partial<EditorProps> = {}) {
  const onChange = vi.fn()
  function Form() {
    const [value, setValue] = useState('echo 1\n')
    onChange.mockImplementation(setValue)
    return (
      <>
        <button type="button" onClick={() => setValue('echo 1\necho 2\n')}>
          other version
        </button>
        <Editor label="Script" value={value} onChange={onChange} {...props} />
      </>
    )
  }
  await act(async () => void renderInConsole(<Form />))
  return { onChange }
}

test('an edit is reported with the complete text', async () => {
  const { onChange } = await open()
  await insert(0, '# ')
  expect(onChange).toHaveBeenLastCalledWith('# echo 1\n')
})

test('edits can be undone and redone', async () => {
  await open()
  await insert(0, '# ')
  await act(async () => void undo(view()))
  expect(text()).toBe('echo 1\n')
  await act(async () => void redo(view()))
  expect(text()).toBe('# echo 1\n')
})

test('another version from outside changes only what differs, so the cursor stays', async () => {
  await open()
  await act(async () => view().dispatch({ selection: { anchor: 4 } }))
  fireEvent.click(screen.getByText('other version'))
  await waitFor(() => expect(text()).toBe('echo 1\necho 2\n'))
  expect(view().state.selection.main.anchor).toBe(4)
})

test.each([
  ['the same', 'abc', 'abc'],
  ['an insertion', 'ac', 'abc'],
  ['a deletion', 'abc', 'ac'],
  ['a replacement', 'one two three', 'one 2 three'],
  ['a repetition', 'aa', 'aaa'],
  ['everything', 'abc', ''],
])('the smallest change of %s gives the new text', (_, before, after) => {
  const {
    from,
    to = from,
    insert = '',
  } = changeTo(before, after) as {
    from: number
    to?: number
    insert?: string
  }
  expect(before.slice(0, from) + insert + before.slice(to)).toBe(after)
})

test('a reader cannot write', async () => {
  await open({ readOnly: true })
  expect(view().state.readOnly).toBe(true)
  expect(screen.queryByText(/Press Esc, then Tab/)).toBeNull()
})

test('a person with a keyboard learns how to leave the editor', async () => {
  await open()
  const hint = screen.getByText(/Press Esc, then Tab, to leave the editor/)
  expect(screen.getByRole('textbox').getAttribute('aria-describedby')).toBe(hint.id)
  expect(screen.getByRole('textbox').getAttribute('aria-label')).toBe('Script')
})

test('the language follows the file name', async () => {
  await open({ filename: 'backup.py' })
  expect(document.querySelector('[data-language="python"]')).toBeTruthy()
})

const FAULTS = 'POST /script/check'

test('faults that the server reports are marked at their place', async () => {
  answer(FAULTS, { faults: [{ line: 2, column: 3, message: 'unexpected token' }] })
  const editor = new EditorView({ doc: 'one\nsecond line\n' })
  const [fault] = await faultsIn(editor, 'a.sh', 'bash %script%')
  expect(fault).toMatchObject({ from: 6, to: 15, severity: 'error', message: 'unexpected token' })
  expect(requestsTo(FAULTS)[0]!.body).toEqual({
    source: 'one\nsecond line\n',
    filename: 'a.sh',
    runas: 'bash %script%',
  })
})

test('a fault beyond the text is marked at its end', async () => {
  answer(FAULTS, { faults: [{ line: 99, column: 99, message: 'unexpected end' }] })
  const editor = new EditorView({ doc: 'one\ntwo' })
  expect(await faultsIn(editor, '', '')).toMatchObject([{ from: 7, to: 7 }])
})

test('an empty script is not checked, and a server that fails marks nothing', async () => {
  expect(await faultsIn(new EditorView({ doc: ' \n' }), '', '')).toEqual([])
  expect(requestsTo(FAULTS)).toEqual([])
  expect(await faultsIn(new EditorView({ doc: 'x' }), '', '')).toEqual([])
})

test('a difference shows both sides, with the number of lines', () => {
  renderInConsole(<DiffView before={'a\nb\nc'} after={'a\nx\nc'} label="Changes" />)
  expect(screen.getByText('1 line added, 1 removed')).toBeTruthy()
  const rows = [...document.querySelectorAll('.diff-row')].map((row) => row.textContent)
  expect(rows).toEqual(['11 a', '2-b', '2+x', '33 c'])
})

test('equal texts have no difference', () => {
  renderInConsole(<DiffView before="a" after="a" label="Changes" />)
  expect(screen.getByText('No differences.')).toBeTruthy()
})

const VERSIONS = [3, 2, 1].map((version) => ({
  version,
  size: 10,
  creation_date: '2026-01-01T00:00:00Z',
  created_by: 'ana',
}))

function answerVersions(versions = VERSIONS) {
  answer('GET /file/s1/versions', versions)
  answer('GET /file/s1/download', ({ query }: { query: Record<string, string> }) =>
    query.version === '1'
      ? new Response(new Uint8Array([0xff]))
      : new Response(`v${query.version}`),
  )
}

test('the newest version is compared with the one before', async () => {
  answerVersions()
  await renderPage(<Versions id="s1" />)
  const changes = await screen.findByRole('region', { name: 'Changes in version 3' })
  expect(changes.textContent).toContain('v2')
  expect(changes.textContent).toContain('v3')
})

test('a version that is no text is not compared', async () => {
  answerVersions()
  await renderPage(<Versions id="s1" />)
  fireEvent.click(await screen.findByLabelText('Version 2'))
  expect(await screen.findByText(/This is not a text file/)).toBeTruthy()
})

test('the first version has nothing to be compared with', async () => {
  answerVersions(VERSIONS.slice(-1))
  await renderPage(<Versions id="s1" />)
  expect(await screen.findByText(/First version/)).toBeTruthy()
  expect(screen.getByRole('link', { name: 'Download' }).getAttribute('href')).toBe(
    '/file/s1/download?version=1',
  )
})

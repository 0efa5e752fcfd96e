// @vitest-environment happy-dom
import { useState } from 'react'
import { expect, test } from 'vitest'
import { choose, field, renderPage } from '../../../../tests/unit/render'
import { answer, answerNames } from '../../../../tests/unit/server'
import { PartsInput } from '../PartsInput'
import { newPart, type PartDraft } from '../partDraft'

function Parts({ first = newPart() }: { first?: PartDraft }) {
  const [parts, setParts] = useState([first])
  return <PartsInput value={parts} errors={{}} onChange={setParts} />
}

test('a component cannot be saved before its monitor is chosen, which also names it', async () => {
  answerNames('monitor', [{ id: 'm1', name: 'Website' }])
  await renderPage(<Parts />)
  expect(field('Object').checkValidity()).toBe(false)
  await choose('Object', 'Website')
  expect(field('Object').checkValidity()).toBe(true)
  expect(field('Name for visitors').value).toBe('Website')
})

test('a page can be saved before the names of its monitors are read', async () => {
  const never = new Promise(() => {})
  answer('GET /-/names', () => never)
  await renderPage(<Parts first={{ ...newPart(), name: 'Shop', value: 'm1' }} />)
  expect(field('Object').value).toBe('Shop')
  expect(field('Object').checkValidity()).toBe(true)
})

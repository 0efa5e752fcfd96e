// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { newArgument } from '../../../draft/templates'
import { pairsText, parsePairs } from '../../pairs'
import { moveArgument, numberArguments, optionsIn, optionsText } from '../argumentOrder'

test('arguments are numbered as the list shows them', () => {
  const list = ['a', 'b', 'c'].map((label) => newArgument('input', { label }))
  const next = numberArguments(moveArgument(list, 2, 0))
  expect(next.map((argument) => [argument.label, argument.order])).toEqual([
    ['c', 0],
    ['a', 1],
    ['b', 2],
  ])
})

test('choices and pairs survive the way through their text', () => {
  const options = optionsIn('a = Apple\nb\n')
  expect(options).toEqual([
    { id: 'a', label: 'Apple', order: 0 },
    { id: 'b', label: 'b', order: 1 },
  ])
  expect(optionsText(options)).toBe('a = Apple\nb')
  expect(parsePairs('A=1=2\n\nB=', '=')).toEqual({ A: '1=2', B: '' })
  expect(parsePairs('nothing', '=')).toBeNull()
  expect(pairsText({ Accept: 'text/html' }, ':')).toBe('Accept: text/html')
})

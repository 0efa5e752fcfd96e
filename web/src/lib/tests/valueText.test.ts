import { expect, test } from 'vitest'
import { valueText } from '../valueText'

test('a text is shown as it is, other values as JSON', () => {
  expect(valueText('prod')).toBe('prod')
  expect(valueText({ n: 1 })).toBe('{"n":1}')
  expect(valueText(null)).toBe('null')
  expect(valueText(undefined)).toBe('')
})

test('a stored file is shown by its name', () => {
  expect(valueText({ blob: 'f'.repeat(64), filename: 'june.csv' })).toBe('june.csv')
})

import { expect, test } from 'vitest'
import {
  choicesOf,
  keyOf,
  placeholderOf,
  previewOf,
  type Sample,
  sourceOf,
  withSource,
} from '../sources'

const names = { output: (n: number) => `Output ${n}`, input: (name: string) => `Argument ${name}` }

function labels(samples: [string, Sample][], before = ['lookup']): string[] {
  const choices = choicesOf(before, new Map(samples), names)
  return choices.map(({ node, label, example }) => `${node} ${label}=${example}`)
}

test('outputs, their members and readable arguments of earlier steps are offered', () => {
  const sample: Sample = {
    output: [{ user: 'ada', tags: ['x'] }, '{"count": 7}', 'plain'],
    input: [
      { name: 'who', value: 'max', isReadable: true },
      { name: 'password', value: '***', isReadable: false },
    ],
  }
  expect(labels([['lookup', sample]])).toEqual([
    'lookup Output 1={"user":"ada","tags":["x"]}',
    'lookup Output 1 › user=ada',
    'lookup Output 1 › tags=["x"]',
    'lookup Output 2={"count": 7}',
    'lookup Output 2 › count=7',
    'lookup Output 3=plain',
    'lookup Argument who=max',
  ])
})

test('a step that has not run offers its first output', () => {
  expect(labels([], ['build', 'lookup'])).toEqual(['build Output 1=', 'lookup Output 1='])
})

test('a source survives the way through a key, without defaults', () => {
  for (const source of [
    { node: 'a', index: 0 },
    { node: 'a', index: 2, keys: ['x', 'y.z'] },
    { node: 'a', index: 1, part: 'input' as const },
  ])
    expect(sourceOf(keyOf(source))).toEqual(source)
  expect(keyOf({ node: 'a' })).toBe(keyOf({ node: 'a', part: 'output', index: 0, keys: [] }))
  expect(sourceOf('fixed')).toEqual({ value: '' })
})

test('choosing one argument keeps the others as they were passed on before', () => {
  expect(withSource([], 1, { value: 'x' }, 3, 'build')).toEqual([
    { node: 'build', index: 0 },
    { value: 'x' },
    { node: 'build', index: 2 },
  ])
  expect(withSource([{ node: 'a' }], 1, { value: 'x' }, 2, undefined)).toEqual([
    { node: 'a' },
    { value: 'x' },
  ])
})

test('a template is shown with the values of an earlier run', () => {
  const samples = new Map<string, Sample>([
    [
      'look up',
      {
        output: [{ user: { names: ['Ada', 'Lovelace'] } }, '{"n": 7}'],
        input: [{ name: 'key', value: 'hidden', isReadable: false }],
      },
    ],
  ])
  const show = (template: string) => previewOf(template, samples)
  expect(show('Hi {{ look up.output[0].user.names[1] }}!')).toBe('Hi Lovelace!')
  expect(show('{{look up.output[1].n}}{{look up.output[9]}}')).toBe('7')
  // Unknown steps and hidden values stay placeholders.
  expect(show('{{other.output[0]}} {{look up.input[0]}}')).toBe(
    '{{other.output[0]}} {{look up.input[0]}}',
  )
})

test('a source becomes a placeholder, and a template keeps its own key', () => {
  expect(placeholderOf({ node: 'a', index: 1, keys: ['user', 'name'] })).toBe(
    '{{a.output[1].user.name}}',
  )
  expect(keyOf({ template: 'x' })).toBe('template')
  expect(sourceOf('template')).toEqual({ template: '' })
})

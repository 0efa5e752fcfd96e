import { expect, test } from 'vitest'
import { grammarOf, type Language, languageOf } from '../languages'

test('the ending of the name decides first, in any case', () => {
  expect(languageOf('a.PY', 'bash %script%', '#!/bin/sh')).toBe('python')
  expect(languageOf('deploy.v2.yml')).toBe('yaml')
})

test('an unknown ending leaves it to the program that runs the script', () => {
  expect(languageOf('deploy', 'node %script%')).toBe('javascript')
  expect(languageOf('deploy.task', 'PowerShell -File %script%')).toBe('powershell')
})

test('the first line counts if nothing else says it', () => {
  expect(languageOf('', '', '#!/usr/bin/env python3\n# not bash\n')).toBe('python')
  expect(languageOf('', '', '#!/bin/dash')).toBe('shell')
  // Only a line with an interpreter, and only the first.
  expect(languageOf('', '', 'bash\n#!/bin/bash')).toBe('text')
})

test('words that only contain the name of a program do not count', () => {
  expect(languageOf('', '/opt/finish %script%')).toBe('text')
  expect(languageOf('', '', '#!/opt/nodename')).toBe('text')
})

test('every language but plain text has a grammar', async () => {
  const languages: Language[] = ['python', 'javascript', 'json', 'yaml', 'shell', 'powershell']
  for (const language of languages) expect(await grammarOf(language)).toHaveProperty('extension')
  expect(await grammarOf('text')).toEqual([])
})

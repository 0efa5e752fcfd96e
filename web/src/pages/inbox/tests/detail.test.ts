// @vitest-environment happy-dom
import { afterEach, expect, it } from 'vitest'
import { setPrefs } from '../../../lib/prefs'
import { detailOf } from '../detail'
import { useInboxText } from '../text'

const signIn = {
  kind: 'member.new_sign_in',
  body: 'Address: 10.0.0.7; Browser or program: Firefox; 9',
}

afterEach(() => setPrefs({ language: 'en' }))

it('a sign-in is described in the language of the console', () => {
  expect(detailOf(signIn, useInboxText.now())).toBe(
    'Address: 10.0.0.7; browser or program: Firefox; 9',
  )
  setPrefs({ language: 'es' })
  expect(detailOf(signIn, useInboxText.now())).toBe(
    'Dirección: 10.0.0.7; navegador o programa: Firefox; 9',
  )
  const token = { kind: 'token.created', body: 'Token: deploy' }
  expect(detailOf(token, useInboxText.now())).toBe('Token: deploy')
})

it('the browser of a sign-in is named, not quoted', () => {
  const agent = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/156.0.0.0 Safari/537.36'
  const body = `Address: 10.0.0.7; Browser or program: ${agent}`
  expect(detailOf({ kind: 'member.new_sign_in', body }, useInboxText.now())).toBe(
    'Address: 10.0.0.7; browser or program: Chrome 156 on Linux',
  )
})

it('any other text is shown as it is', () => {
  setPrefs({ language: 'es' })
  for (const kind of ['job.failed', 'member.new_sign_in']) {
    expect(detailOf({ kind, body: 'The disk is full' }, useInboxText.now())).toBe(
      'The disk is full',
    )
  }
})

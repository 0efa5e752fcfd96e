// @vitest-environment happy-dom
import { expect, it } from 'vitest'
import { base64Of } from '../../src/pages/status/LogoInput'
import { postLook } from '../../src/pages/status/public/PublicPosts'

it('a posted incident looks like its impact until it is resolved', () => {
  expect(postLook({ ended: null, impact: 'outage' })).toBe('fail')
  expect(postLook({ ended: null, impact: 'notice' })).toBe('warn')
  expect(postLook({ ended: '2026-01-01T00:00:00Z', impact: 'outage' })).toBe('ok')
})

it('the bytes of an image are sent in base64', async () => {
  expect(await base64Of(new Blob([new Uint8Array([0, 127, 128, 255])]))).toBe('AH+A/w==')
})

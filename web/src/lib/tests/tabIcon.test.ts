// @vitest-environment happy-dom
import { expect, test } from 'vitest'
import { showProblems, tabIcon } from '../tabIcon'

const texts = (icon: string) => /<text[^>]*>([^<]*)</.exec(decodeURIComponent(icon))?.[1]

test('the icon of the tab shows the number of problems', () => {
  expect(texts(tabIcon(3))).toBe('3')
  expect(texts(tabIcon(207))).toBe('9+')
})

test('the tab has its own icon again when the problems are over', () => {
  document.head.innerHTML = '<link rel="icon" href="./favicon.svg">'
  const link = document.querySelector('link')!
  showProblems(2)
  expect(texts(link.href)).toBe('2')
  showProblems(0)
  expect(link.getAttribute('href')).toBe('./favicon.svg')
})

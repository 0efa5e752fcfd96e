import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { DASHBOARD_HELP, HELP, helpAddress, helpPage } from '../../src/app/help'
import { PAGES } from '../../src/app/pages'
import { DOCUMENTED_LEVELS } from './pageLevels'

const DOCS = new URL('../../../docs/', import.meta.url)

test('each page of the console has its help page', () => {
  expect(helpPage('/acme/monitors/new')).toBe('howto/watch-a-website')
  expect(helpPage('/acme/monitors/0123/history')).toBe('reference/monitors')
  expect(helpPage('/acme')).toBe(DASHBOARD_HELP)
  expect(helpPage('/acme/')).toBe(DASHBOARD_HELP)
  expect(helpPage('/acme/jobsworth')).toBe(DASHBOARD_HELP)
  expect(helpAddress('/x/', '/acme/audit')).toBe('/x/-/docs/reference/access.html#audit')
})

test('every page of the navigation has help of its own', () => {
  // The wall shows the dashboard.
  const others = PAGES.filter((page) => page.to !== '/' && page.to !== '/wall')
  expect(others.filter((page) => helpPage(`/acme${page.to}`) === DASHBOARD_HELP)).toEqual([])
})

test('every page of the documentation that is linked exists, with its heading', () => {
  for (const target of [DASHBOARD_HELP, ...HELP.map(([, page]) => page)]) {
    const [page, anchor] = target.split('#')
    const file = new URL(`${page}.md`, DOCS)
    expect(existsSync(file), target).toBe(true)
    const headings = readFileSync(file, 'utf8').match(/^#+ .+$/gm) ?? []
    const anchors = headings.map((line) =>
      line.replace(/^#+ /, '').toLowerCase().replace(/ /g, '-'),
    )
    if (anchor) expect(anchors, target).toContain(anchor)
  }
})

test('the documentation has every page of the navigation, with the lowest level that sees it', () => {
  const levels = PAGES.map((page) => [page.titles[0], page.level ?? 'viewer'])
  expect([...DOCUMENTED_LEVELS].sort()).toEqual(levels.sort())
})

test('no row is hidden by an earlier one', () => {
  for (const [path, page] of HELP) expect(helpPage(`/acme${path}`)).toBe(page)
})

import { expect, test } from 'vitest'
import type { HostLine } from '../../../api/queries/monitoring/host'
import { isSortedHere, orderOf, sortHosts, validHostsSearch } from './hostsSearch'

const host = (hostname: string, cpu: number | null, failing = 0) =>
  ({ hostname, cpu, failing }) as HostLine

test('hosts with the highest figure come first, those without one last', () => {
  const hosts = [host('a', 5), host('b', null), host('c', 90), host('d', 0, 2)]
  const names = (sort: Parameters<typeof sortHosts>[1]) =>
    sortHosts(hosts, sort).map((line) => line.hostname)
  expect(names('cpu')).toEqual(['c', 'a', 'd', 'b'])
  expect(names('failing')).toEqual(['d', 'a', 'b', 'c'])
  expect(names(undefined)).toEqual(['a', 'b', 'c', 'd'])
})

test('the server sorts by state, name and time; figures are sorted in the browser', () => {
  expect(orderOf(undefined)).toBe('rank')
  expect(orderOf('name')).toBe('hostname')
  expect(isSortedHere('last_seen')).toBe(false)
  expect(isSortedHere('disk')).toBe(true)
  expect(isSortedHere(undefined)).toBe(false)
})

test('an address with unknown words shows all hosts', () => {
  const search = { state: 'gone', sort: 'x', heat: 'y', q: 'web', grid: 'true' }
  expect(validHostsSearch(search)).toEqual({
    q: 'web',
    tag: undefined,
    state: undefined,
    sort: undefined,
    grid: true,
    heat: undefined,
  })
})

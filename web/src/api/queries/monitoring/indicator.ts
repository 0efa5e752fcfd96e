import { queryOptions } from '@tanstack/react-query'
import { api, ok, okWithTotal, type Shape, untypedQuery } from '../../client'

export type IndicatorLine = Shape<'IndicatorLine'>
export type Indicator = Shape<'IndicatorRecord'>
/** A chart of our own format. The schema has only an object, because figures of Plotly may have any member. */
export interface Chart {
  kind: string
  unit: string
  labels: string[]
  times: string[]
  series: { name: string; values: (number | null)[] }[]
}

/** As many as the server gives at once, those first that want to be seen. */
const TILES = {
  'sort[sticky]': -1,
  'sort[rank]': 1,
  'sort[order]': 1,
  'sort[title]': 1,
  limit: 200,
  count: true,
}

/** The tiles of the dashboard, of those that the person may see, and how many there are. */
export const tilesQuery = queryOptions({
  queryKey: ['indicator', 'board'],
  queryFn: () =>
    okWithTotal(api.GET('/-/board/indicators', { params: { query: untypedQuery(TILES) } })),
})

export const indicatorsQuery = queryOptions({
  queryKey: ['indicator', 'list'],
  queryFn: () =>
    ok(api.GET('/indicator', { params: { query: untypedQuery({ 'sort[title]': 1 }) } })),
})

export function indicatorQuery(id: string) {
  return queryOptions({
    queryKey: ['indicator', id],
    queryFn: () => ok(api.GET('/indicator/{id}', { params: { path: { id } } })),
  })
}

/** The beginning of the file that an indicator shows. */
export function indicatorFileQuery(id: string) {
  return queryOptions({
    queryKey: ['indicator', id, 'file'],
    queryFn: () => ok(api.GET('/indicator/{id}/file', { params: { path: { id } } })),
    meta: { after: ['file'] },
  })
}

export function indicatorHistoryQuery(id: string, since: string) {
  return queryOptions({
    queryKey: ['indicator', id, 'history', since],
    queryFn: () =>
      ok(
        api.GET('/indicator/{id}/history', {
          params: { path: { id }, query: untypedQuery({ since, points: 500 }) },
        }),
      ),
  })
}

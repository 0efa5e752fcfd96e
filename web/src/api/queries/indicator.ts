import { queryOptions } from '@tanstack/react-query'
import { api, loose, ok, type Shape } from '../client'

export type IndicatorLine = Shape<'IndicatorLine'>
export type Indicator = Shape<'IndicatorRecord'>
export type Chart = Shape<'Chart'>

/** The tiles of the dashboard; those that the person may see. */
export const tilesQuery = queryOptions({
  queryKey: ['indicator', 'board'],
  queryFn: () => ok(api.GET('/-/board/indicators', { params: { query: loose({ limit: 200 }) } })),
})

export const indicatorsQuery = queryOptions({
  queryKey: ['indicator', 'list'],
  queryFn: () => ok(api.GET('/indicator', { params: { query: loose({ 'sort[title]': 1 }) } })),
})

export function indicatorQuery(id: string) {
  return queryOptions({
    queryKey: ['indicator', id],
    queryFn: () => ok(api.GET('/indicator/{id}', { params: { path: { id } } })),
  })
}

/** The beginning of the file that an indicator shows. */
export function shownFileQuery(id: string) {
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
          params: { path: { id }, query: loose({ since, points: 500 }) },
        }),
      ),
  })
}

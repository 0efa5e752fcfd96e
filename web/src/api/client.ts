import createClient, { createQuerySerializer } from 'openapi-fetch'
import { ApiError, apiErrorOf } from './errors'
import type { components, paths } from './schema'

/** A named shape of the interface: `Shape<'JobRecord'>`. */
export type Shape<Name extends keyof components['schemas']> = components['schemas'][Name]

/**
 * The address of the console (`/ui/`, possibly behind a prefix), and of the interface next to it.
 */
export const UI = new URL(document.baseURI).pathname
export const ROOT = new URL('../', document.baseURI).pathname

let customer = ''

/** From now on every call names this organization: a tab that is left behind gets a refusal
 * instead of another organization's records. */
export function setCustomer(name: string): void {
  customer = name
}

export function currentCustomer(): string {
  return customer
}

/** The address of a path of the interface, for streams, downloads and pictures. */
export function address(
  path: string,
  query: Record<string, string | number | undefined> = {},
): string {
  const search = new URLSearchParams()
  if (customer) search.set('customer', customer)
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value))
  }
  const text = search.toString()
  return ROOT + path.replace(/^\//, '') + (text && `?${text}`)
}

const inWords = createQuerySerializer()

const client = createClient<paths>({
  baseUrl: new URL(ROOT, document.baseURI).href.replace(/\/$/, ''),
  querySerializer: (query) => inWords(customer ? { ...query, customer } : query),
})

/** Calls that send a body: the server refuses a field that has no effect instead of ignoring it. */
function strict<Call extends (path: never, init: never) => unknown>(call: Call): Call {
  const withParameter = (path: never, init?: { params?: { query?: object } }) => {
    const query = { ...init?.params?.query, strict: '1' }
    return call(path, { ...init, params: { ...init?.params, query } } as never)
  }
  return withParameter as unknown as Call
}

export const api = {
  ...client,
  POST: strict(client.POST),
  PUT: strict(client.PUT),
  PATCH: strict(client.PATCH),
}

interface Answer<T> {
  data?: T
  error?: unknown
  response: Response
}

/** The record of an answer; a refusal is thrown as an ApiError. */
export async function ok<T>(request: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await request.catch((fault) => {
    throw new ApiError(0, 'offline', String(fault))
  })
  if (!response.ok) throw apiErrorOf(response, error)
  return data as T
}

/** Rows of a list, its total if that was asked for and whether there are more than so many, and
 * the id behind which nothing was looked at. */
export interface RowsWithTotal<T> {
  rows: T
  total: number | null
  more: boolean
  until: string | null
}

/** Like ok, with the totals that a list has in its headers. */
export async function okWithTotal<T>(request: Promise<Answer<T>>): Promise<RowsWithTotal<T>> {
  const answer = await request
  const { headers } = answer.response
  const total = headers.get('x-total-count')
  return {
    rows: await ok(Promise.resolve(answer)),
    total: total === null ? null : Number(total),
    more: headers.has('x-total-more'),
    until: headers.get('x-looked-until'),
  }
}

/** Query parameters whose names are made at run time (`where[host_id]`, `sort[name]`). */
// biome-ignore lint/suspicious/noExplicitAny: the document names the pattern, not each field
export function untypedQuery(query: Record<string, unknown>): any {
  return query
}

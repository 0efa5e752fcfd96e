import { catalogue } from '../lib/i18n'

const words = catalogue(
  {
    offline: 'The server cannot be reached. Your change was not saved; try again.',
    strange: 'Unexpected response from the server.',
  },
  {
    offline: 'No se puede contactar con el servidor. El cambio no se guardó; inténtalo de nuevo.',
    strange: 'Respuesta inesperada del servidor.',
  },
)

export interface Fault {
  field: string
  message: string
}

/** An error response of the server, with its message. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly faults: Fault[] = [],
    readonly requestId = '',
  ) {
    super(status === 0 ? words.now().offline : message)
  }
}

export function apiErrorOf(response: Response, body: unknown): ApiError {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>
  return new ApiError(
    response.status,
    String(fields.code ?? response.status),
    String(fields.message ?? words.now().strange),
    Array.isArray(fields.errors) ? (fields.errors as Fault[]) : [],
    String(fields.request_id ?? ''),
  )
}

/** Refusals that another try cannot change. */
export function isFinal(error: unknown): boolean {
  return (
    error instanceof ApiError && error.status >= 400 && error.status < 500 && error.status !== 429
  )
}

/** Someone else saved first. */
export function isStale(error: unknown): boolean {
  return error instanceof ApiError && error.status === 412
}

/** Field errors of a form: field name to sentence. */
export function byField(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {}
  return Object.fromEntries(error.faults.map((fault) => [fault.field, fault.message]))
}

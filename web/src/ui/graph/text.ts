import { catalogue } from '../../lib/i18n'
import type { Edge } from './graphDraft'

export const useText = catalogue(
  {
    graph: 'Graph',
    start: 'start',
    all: 'waits for all',
    workflow: 'workflow',
    gone: 'task deleted',
    on: {
      success: 'success',
      failure: 'failure',
      timeout: 'timeout',
      canceled: 'cancelled',
      always: 'always',
    } as Record<string, string>,
    notReached: 'Not reached',
    step: (name: string, state: string) => `${name}: ${state}`,
    node: 'Step',
    task: 'Runs',
    follows: 'Then',
    nothing: 'ends here',
    atMost: (n: number) => `at most ${n}×`,
    visits: (n: number) => `×${n}`,
    visit: (n: number) => `visit ${n}`,
  },
  {
    graph: 'Grafo',
    start: 'inicio',
    all: 'espera a todos',
    workflow: 'flujo',
    gone: 'tarea borrada',
    on: {
      success: 'éxito',
      failure: 'fallo',
      timeout: 'tiempo agotado',
      canceled: 'cancelado',
      always: 'siempre',
    } as Record<string, string>,
    notReached: 'Sin alcanzar',
    step: (name: string, state: string) => `${name}: ${state}`,
    node: 'Paso',
    task: 'Ejecuta',
    follows: 'Después',
    nothing: 'acaba aquí',
    atMost: (n: number) => `como mucho ${n}×`,
    visits: (n: number) => `×${n}`,
    visit: (n: number) => `visita ${n}`,
  },
)

/** `failure → repair (at most 3×)` */
export function edgeText(edge: Edge, t: ReturnType<typeof useText>): string {
  const on = edge.on ?? 'success'
  const bound = edge.max_visits ? ` (${t.atMost(edge.max_visits)})` : ''
  return `${t.on[on] ?? on} → ${edge.target}${bound}`
}

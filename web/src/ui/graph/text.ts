import { catalogue } from '../../lib/i18n'
import type { Edge } from './graphDraft'

export const useText = catalogue(
  {
    graph: 'Graph',
    start: 'start',
    all: 'waits for all',
    workflow: 'workflow',
    taskDeleted: 'task deleted',
    on: {
      success: 'success',
      failure: 'failure',
      timeout: 'timeout',
      canceled: 'canceled',
      always: 'always',
    } as Record<string, string>,
    notReached: 'Not reached',
    step: (name: string, state: string) => `${name}: ${state}`,
    node: 'Step',
    task: 'Runs',
    follows: 'Then',
    end: 'ends here',
    atMost: (n: number) => `at most ${n}×`,
    visits: (n: number) => `×${n}`,
    visit: (n: number) => `visit ${n}`,
    visitOf: 'Visit',
    details: (name: string) => `Step ${name}`,
    parts: 'Part of the step',
    part: { log: 'Log', input: 'Input', output: 'Output' },
    neverRan: 'No run is shown.',
    runFrom: 'Run from this step',
    runFromHelp:
      'Starts a new run: earlier steps keep their output, and this step gets the same arguments.',
    runWith: 'Run with other arguments',
    startedFrom: (name: string) => `Started from ${name}`,
    openJob: 'Open job',
    openTask: 'Open task',
    openWorkflow: 'Open workflow',
    noInput: 'No arguments.',
    noOutput: 'No output values.',
    silent: 'No output.',
    waiting: 'No output yet',
  },
  {
    graph: 'Grafo',
    start: 'inicio',
    all: 'espera a todos',
    workflow: 'flujo',
    taskDeleted: 'tarea borrada',
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
    end: 'acaba aquí',
    atMost: (n: number) => `como mucho ${n}×`,
    visits: (n: number) => `×${n}`,
    visit: (n: number) => `visita ${n}`,
    visitOf: 'Visita',
    details: (name: string) => `Paso ${name}`,
    parts: 'Parte del paso',
    part: { log: 'Registro', input: 'Entrada', output: 'Salida' },
    neverRan: 'No se muestra ninguna ejecución.',
    runFrom: 'Ejecutar desde este paso',
    runFromHelp:
      'Inicia una ejecución nueva: los pasos anteriores conservan su salida y este recibe los mismos argumentos.',
    runWith: 'Ejecutar con otros argumentos',
    startedFrom: (name: string) => `Iniciado desde ${name}`,
    openJob: 'Abrir trabajo',
    openTask: 'Abrir tarea',
    openWorkflow: 'Abrir flujo',
    noInput: 'Sin argumentos.',
    noOutput: 'Sin valores de salida.',
    silent: 'Sin salida.',
    waiting: 'Aún sin salida',
  },
)

/** `failure → repair (at most 3×)` */
export function edgeText(edge: Edge, t: ReturnType<typeof useText>): string {
  const on = edge.on ?? 'success'
  const bound = edge.max_visits ? ` (${t.atMost(edge.max_visits)})` : ''
  return `${t.on[on] ?? on} → ${edge.target}${bound}`
}

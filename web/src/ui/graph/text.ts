import { catalogue } from '../../lib/i18n'

export const useText = catalogue(
  {
    graph: 'Graph',
    start: 'start',
    all: 'waits for all',
    workflow: 'workflow',
    gone: 'task is gone',
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
  },
  {
    graph: 'Grafo',
    start: 'inicio',
    all: 'espera a todos',
    workflow: 'flujo',
    gone: 'la tarea no existe',
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
  },
)

import { catalogue } from '../../lib/i18n'

export const useText = catalogue(
  {
    kinds: {
      webhook: 'webhook',
      schedule: 'schedule',
      token: 'token',
      task: 'task',
      workflow: 'workflow',
      monitor: 'monitor',
      indicator: 'indicator',
    } as Record<string, string>,
    origins: {
      user: 'a person',
      secret: 'secret key',
      scheduler: 'schedule',
      trigger_by: 'trigger',
      workflow: 'workflow step',
    } as Record<string, string>,
    task: 'Task',
    workflow: 'Workflow',
    moreArguments: 'More arguments',
    willRun: 'What the approval will run',
    nothingRuns: 'Nothing runs after it: the answer is the result.',
    onHost: 'on',
    argumentsLater: 'arguments from the previous step',
  },
  {
    kinds: {
      webhook: 'webhook',
      schedule: 'horario',
      token: 'token',
      task: 'tarea',
      workflow: 'flujo',
      monitor: 'monitor',
      indicator: 'indicador',
    },
    origins: {
      user: 'una persona',
      secret: 'clave secreta',
      scheduler: 'horario',
      trigger_by: 'disparador',
      workflow: 'paso de un flujo',
    },
    task: 'Tarea',
    workflow: 'Flujo',
    moreArguments: 'Más argumentos',
    willRun: 'Lo que ejecutará la aprobación',
    nothingRuns: 'Después no se ejecuta nada: la respuesta es el resultado.',
    onHost: 'en',
    argumentsLater: 'argumentos del paso anterior',
  },
)

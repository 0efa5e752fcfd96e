import { catalogue } from '../../../lib/i18n'

/** Texts of the tabs of a task. */
export const useDetailText = catalogue(
  {
    trigger: {
      title: 'Started by events',
      body: 'In addition to people, schedules and webhooks. The data of the event becomes the arguments, in order.',
      add: 'Add an event',
      none: 'No events start it.',
      remove: (name: string) => `Remove ${name}`,
      schedules: 'Schedules',
      noSchedule: 'It has no schedules.',
      addSchedule: 'New schedule',
      next: 'next',
      emitters: {
        task: 'Task',
        webhook: 'Webhook',
        indicator: 'Indicator',
        monitor: 'Monitor',
        workflow: 'Workflow',
      } as Record<string, string>,
      gone: 'a deleted object',
    },
    job: {
      none: 'No jobs yet',
      noneBody: 'Run the task to see its jobs here.',
      all: 'All jobs of this task',
      state: 'State',
      started: 'Started',
      took: 'Duration',
      by: 'Started by',
    },
    past: {
      versions: 'Versions of the script',
      definition: 'Changes to the definition',
      version: (n: number) => `Version ${n}`,
      none: 'This task has no script.',
    },
  },
  {
    trigger: {
      title: 'Iniciada por eventos',
      body: 'Además de personas, horarios y webhooks. Los datos del evento son los argumentos, en orden.',
      add: 'Añadir un evento',
      none: 'Ningún evento la inicia.',
      remove: (name: string) => `Quitar ${name}`,
      schedules: 'Horarios',
      noSchedule: 'No tiene horarios.',
      addSchedule: 'Horario nuevo',
      next: 'próxima',
      emitters: {
        task: 'Tarea',
        webhook: 'Webhook',
        indicator: 'Indicador',
        monitor: 'Monitor',
        workflow: 'Flujo',
      } as Record<string, string>,
      gone: 'un objeto borrado',
    },
    job: {
      none: 'Aún no hay trabajos',
      noneBody: 'Ejecuta la tarea para ver aquí sus trabajos.',
      all: 'Todos los trabajos de esta tarea',
      state: 'Estado',
      started: 'Empezó',
      took: 'Duración',
      by: 'Iniciado por',
    },
    past: {
      versions: 'Versiones del script',
      definition: 'Cambios de la definición',
      version: (n: number) => `Versión ${n}`,
      none: 'Esta tarea no tiene script.',
    },
  },
)

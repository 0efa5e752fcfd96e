import { catalogue } from '../../../lib/i18n'

export const useFirstStepsText = catalogue(
  {
    title: 'First steps',
    progress: (done: number, all: number) => `${done} of ${all} done`,
    hide: 'Hide first steps',
    done: 'Done',
    open: 'Not done yet',
    steps: {
      run: 'Run a demo task, such as “Greet somebody”',
      runAny: 'Run a task',
      task: 'Write your own task',
      schedule: 'Schedule it',
      host: 'Add a host',
      notifications: 'Set up notifications',
      people: 'Invite people',
    } as Record<string, string>,
  },
  {
    title: 'Primeros pasos',
    progress: (done: number, all: number) => `${done} de ${all} hechos`,
    hide: 'Ocultar primeros pasos',
    done: 'Hecho',
    open: 'Pendiente',
    steps: {
      run: 'Ejecuta una tarea de ejemplo, como «Greet somebody»',
      runAny: 'Ejecuta una tarea',
      task: 'Escribe tu propia tarea',
      schedule: 'Prográmala',
      host: 'Añade un equipo',
      notifications: 'Configura notificaciones',
      people: 'Invita a personas',
    },
  },
)

import { catalogue } from '../../lib/i18n'

/** Why a job ended, by its `reason`. */
const useReasons = catalogue(
  {
    script_unavailable: 'The agent could not fetch the script or a file of the task.',
    no_interpreter:
      'The first line of the script, or Run as, names a program that this host does not have.',
    not_executable: 'The agent cannot execute it: check the mount options of its folder.',
    arguments_too_long: 'Arguments and environment are longer than the system allows: use a file.',
    no_such_user: 'The user of the task does not exist on this host.',
    no_right_to_run_as: 'The agent does not run as root, so it cannot run as another user.',
    cannot_prepare: 'The host could not prepare it: a full disk, or a missing folder. See the log.',
    cannot_start:
      'The host could not start it: too many processes, or a missing folder. See the log.',
    disk_full: 'The disk of the host was full each time that it got the job.',
    journal_unwritable:
      "The agent's state folder cannot be written; it starts nothing until it can.",
    not_started: 'Canceled before the script started.',
    expired_in_queue: 'It expired in the queue.',
    host_deleted: 'Its host was deleted.',
    task_deleted: 'Its task was deleted.',
    workflow_deleted: 'Its workflow was deleted.',
    default_answer: 'No one voted in time: the default answer of the task applies.',
    agent_unreachable: 'The host did not respond before the deadline. It may have run.',
    keeper_lost: 'The supervisor process on the host crashed.',
    host_rebooted: 'The host rebooted during the run.',
    journal_lost: 'The agent’s journal was lost: the outcome is unknown.',
    agent_restarted: 'The agent restarted and has no record of this job.',
    needs_own_agent:
      'A TheEye agent cannot run it: it cannot run as another user, and cannot mask secrets.',
    held: 'A person put it on hold.',
    restored: 'The database was restored from a backup. It may have run since.',
  } as Record<string, string>,
  {
    script_unavailable: 'El agente no pudo obtener el script o un archivo de la tarea.',
    no_interpreter:
      'La primera línea del script, o «Ejecutar como», nombra un programa que este equipo no tiene.',
    not_executable: 'El agente no puede ejecutarlo: mira las opciones de montaje de su carpeta.',
    arguments_too_long:
      'Los argumentos y el entorno son más largos de lo que permite el sistema: usa un archivo.',
    no_such_user: 'El usuario de la tarea no existe en este equipo.',
    no_right_to_run_as: 'El agente no corre como root, así que no puede correr como otro usuario.',
    cannot_prepare:
      'El equipo no pudo prepararlo: disco lleno o falta una carpeta. Mira el registro.',
    cannot_start:
      'El equipo no pudo iniciarlo: demasiados procesos o falta una carpeta. Mira el registro.',
    disk_full: 'El disco del equipo estaba lleno cada vez que recibió el trabajo.',
    journal_unwritable:
      'No se puede escribir en la carpeta de estado del agente; no inicia nada hasta que se pueda.',
    not_started: 'Cancelado antes de que comenzara el script.',
    expired_in_queue: 'Caducó en la cola.',
    host_deleted: 'Se borró su equipo.',
    task_deleted: 'Se borró su tarea.',
    workflow_deleted: 'Se borró su flujo.',
    default_answer: 'Nadie votó a tiempo: vale la respuesta predeterminada de la tarea.',
    agent_unreachable: 'El equipo no respondió antes del plazo. Quizá se ejecutó.',
    keeper_lost: 'El proceso supervisor del equipo falló.',
    host_rebooted: 'El equipo se reinició durante la ejecución.',
    journal_lost: 'Se perdió el diario del agente: se desconoce el resultado.',
    agent_restarted: 'El agente se reinició y no tiene constancia de este trabajo.',
    needs_own_agent:
      'Un agente de TheEye no puede ejecutarlo: no cambia de usuario ni oculta secretos.',
    held: 'Una persona lo puso en espera.',
    restored: 'La base de datos se restauró de una copia. Quizá se ejecutó desde entonces.',
  },
)

export function reasonText(reason: string): string {
  return useReasons.now()[reason] ?? reason
}

"""Every architecture of the zoo."""

from tests.zoo.diffusion import DIFFUSION
from tests.zoo.language import DECODERS, ENCODER_DECODERS, ENCODERS, EXPERTS, STATE_SPACE
from tests.zoo.sensing import SPEECH, VISION
from tests.zoo.timm_models import TIMM

ZOO = [
    *ENCODERS,
    *DECODERS,
    *ENCODER_DECODERS,
    *VISION,
    *SPEECH,
    *STATE_SPACE,
    *EXPERTS,
    *DIFFUSION,
    *TIMM,
]
BY_NAME = {each.name: each for each in ZOO}
